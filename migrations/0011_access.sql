CREATE TABLE "limit_usage" (
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"limit_name" varchar(100) NOT NULL,
	"subject" text NOT NULL,
	"day" date NOT NULL,
	"calls" integer DEFAULT 0 NOT NULL,
	"ms" bigint DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"tokens" bigint DEFAULT 0 NOT NULL,
	"rate_until" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "limit_usage_pk" PRIMARY KEY("workspace_id","limit_name","subject")
);
--> statement-breakpoint
CREATE TABLE "limits" (
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"name" varchar(100) NOT NULL,
	"definition" json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "limits_pk" PRIMARY KEY("workspace_id","name")
);
--> statement-breakpoint
CREATE TABLE "toolsets" (
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"name" varchar(63) NOT NULL,
	"definition" json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "toolsets_pk" PRIMARY KEY("workspace_id","name")
);
--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "caller_groups" jsonb;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "toolsets" jsonb;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "limits" jsonb;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "toolsets" jsonb;--> statement-breakpoint
ALTER TABLE "limit_usage" ADD CONSTRAINT "limit_usage_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "limits" ADD CONSTRAINT "limits_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "toolsets" ADD CONSTRAINT "toolsets_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;