CREATE TABLE "sources" (
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"name" varchar(63) NOT NULL,
	"server" json NOT NULL,
	"trust" varchar(10) NOT NULL,
	"approved_hash" text,
	"manifest" json,
	"seen" json,
	"refused" json DEFAULT '{}'::json NOT NULL,
	"read_at" timestamp (3) with time zone,
	"waiting" integer DEFAULT 0 NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"last_failure" json,
	"last_success_at" timestamp (3) with time zone,
	"created_by" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sources_pk" PRIMARY KEY("workspace_id","name")
);
--> statement-breakpoint
ALTER TABLE "sources" ADD CONSTRAINT "sources_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;