CREATE TABLE "source_sign_ins" (
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"source" varchar(63) NOT NULL,
	"caller" text NOT NULL,
	"sealed" text,
	"issuer" text NOT NULL,
	"scope" text,
	"failure" text,
	"revision" integer DEFAULT 1 NOT NULL,
	"refreshing_until" timestamp (3) with time zone,
	"signed_in_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "source_sign_ins_pk" PRIMARY KEY("workspace_id","source","caller")
);
--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "oauth_client" text;--> statement-breakpoint
ALTER TABLE "source_sign_ins" ADD CONSTRAINT "source_sign_ins_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "source_sign_ins" ADD CONSTRAINT "source_sign_ins_source" FOREIGN KEY ("workspace_id","source") REFERENCES "public"."sources"("workspace_id","name") ON DELETE cascade ON UPDATE no action;