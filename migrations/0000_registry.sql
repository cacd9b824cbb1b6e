CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE TYPE "public"."execution_status" AS ENUM('PENDING', 'RUNNING', 'SUCCESS', 'FAILED', 'TIMEOUT', 'CANCELLED');--> statement-breakpoint
CREATE TYPE "public"."proposal_status" AS ENUM('OPEN', 'ACCEPTED', 'REFUSED');--> statement-breakpoint
CREATE TYPE "public"."tool_status" AS ENUM('DRAFT', 'ACTIVE', 'DEPRECATED', 'DISABLED');--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"name" varchar(100) NOT NULL,
	"prefix" varchar(16) NOT NULL,
	"hash" text NOT NULL,
	"scopes" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "api_keys_hash" UNIQUE("hash"),
	CONSTRAINT "api_keys_name" UNIQUE("workspace_id","name")
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"subject" text NOT NULL,
	"before" jsonb,
	"after" jsonb,
	"request_id" text
);
--> statement-breakpoint
CREATE TABLE "idempotent_answers" (
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"key_id" text NOT NULL,
	"idempotency_key" varchar(200) NOT NULL,
	"body_hash" text NOT NULL,
	"status" integer,
	"body" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotent_answers_pk" PRIMARY KEY("workspace_id","key_id","idempotency_key")
);
--> statement-breakpoint
CREATE TABLE "policies" (
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"name" varchar(100) NOT NULL,
	"policy" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "policies_pk" PRIMARY KEY("workspace_id","name")
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"name" varchar(100) PRIMARY KEY NOT NULL,
	"value" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tool_categories" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"name" varchar(100) NOT NULL,
	"description" text,
	"parent_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tool_categories_name" UNIQUE("workspace_id","name"),
	CONSTRAINT "tool_categories_not_its_parent" CHECK ("tool_categories"."parent_id" <> "tool_categories"."id")
);
--> statement-breakpoint
CREATE TABLE "tool_executions" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"tool_id" uuid,
	"tool_name" text NOT NULL,
	"version" integer NOT NULL,
	"legacy_version" text,
	"status" "execution_status" DEFAULT 'PENDING' NOT NULL,
	"input_data" jsonb NOT NULL,
	"output_data" jsonb,
	"error_message" text,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"duration_ms" integer,
	"caller_id" text,
	"trace_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tool_proposals" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"tool_id" uuid NOT NULL,
	"status" "proposal_status" DEFAULT 'OPEN' NOT NULL,
	"base_version" integer NOT NULL,
	"change" jsonb NOT NULL,
	"reason" text,
	"changelog" text,
	"created_by" text,
	"decided_by" text,
	"decided_at" timestamp (3) with time zone,
	"decision" text,
	"accepted_version" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tool_versions" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"tool_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"changelog" text,
	"is_latest" boolean DEFAULT true NOT NULL,
	"legacy_version" text,
	"created_by" text,
	"name" varchar(100) NOT NULL,
	"display_name" varchar(200) NOT NULL,
	"description" text NOT NULL,
	"category_id" uuid,
	"tags" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"input_schema" jsonb NOT NULL,
	"output_schema" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"executor_type" varchar(20) NOT NULL,
	"executor_config" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"script_content" text,
	"namespace" varchar(128),
	"summary" text,
	"example_requests" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"examples" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"notes" text,
	"external_refs" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"annotations" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"input_modes" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"output_modes" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"security_summary" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tool_versions_number" UNIQUE("tool_id","version"),
	CONSTRAINT "tool_versions_count" CHECK ("tool_versions"."version" >= 1)
);
--> statement-breakpoint
CREATE TABLE "tools" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"name" varchar(100) NOT NULL,
	"display_name" varchar(200) NOT NULL,
	"description" text NOT NULL,
	"status" "tool_status" DEFAULT 'DRAFT' NOT NULL,
	"category_id" uuid,
	"tags" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"input_schema" jsonb NOT NULL,
	"output_schema" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"script_content" text,
	"executor_type" varchar(20) DEFAULT 'python' NOT NULL,
	"executor_config" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"namespace" varchar(128),
	"summary" text,
	"example_requests" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"examples" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"notes" text,
	"external_refs" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"annotations" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"input_modes" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"output_modes" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"security_summary" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tools_name" UNIQUE("workspace_id","name"),
	CONSTRAINT "tools_name_is_snake_case" CHECK ("tools"."name" ~ '^[a-z0-9_]+$'),
	CONSTRAINT "tools_version_counts" CHECK ("tools"."version" >= 1)
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" varchar(64) PRIMARY KEY NOT NULL,
	"changes" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotent_answers" ADD CONSTRAINT "idempotent_answers_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policies" ADD CONSTRAINT "policies_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_categories" ADD CONSTRAINT "tool_categories_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_categories" ADD CONSTRAINT "tool_categories_parent_id_tool_categories_id_fk" FOREIGN KEY ("parent_id") REFERENCES "public"."tool_categories"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD CONSTRAINT "tool_executions_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD CONSTRAINT "tool_executions_tool_id_tools_id_fk" FOREIGN KEY ("tool_id") REFERENCES "public"."tools"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_proposals" ADD CONSTRAINT "tool_proposals_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_proposals" ADD CONSTRAINT "tool_proposals_tool_id_tools_id_fk" FOREIGN KEY ("tool_id") REFERENCES "public"."tools"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tool_versions" ADD CONSTRAINT "tool_versions_tool_id_tools_id_fk" FOREIGN KEY ("tool_id") REFERENCES "public"."tools"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tools" ADD CONSTRAINT "tools_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tools" ADD CONSTRAINT "tools_category_id_tool_categories_id_fk" FOREIGN KEY ("category_id") REFERENCES "public"."tool_categories"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_entries_newest" ON "audit_entries" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "idempotent_answers_age" ON "idempotent_answers" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "tool_categories_parent" ON "tool_categories" USING btree ("parent_id");--> statement-breakpoint
CREATE INDEX "tool_executions_newest" ON "tool_executions" USING btree ("workspace_id","created_at","id");--> statement-breakpoint
CREATE INDEX "tool_executions_of_tool" ON "tool_executions" USING btree ("tool_id","created_at");--> statement-breakpoint
CREATE INDEX "tool_proposals_of_tool" ON "tool_proposals" USING btree ("tool_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "tool_versions_one_latest" ON "tool_versions" USING btree ("tool_id") WHERE "tool_versions"."is_latest";--> statement-breakpoint
CREATE INDEX "idx_tools_status" ON "tools" USING btree ("workspace_id","status") WHERE "tools"."status" = 'ACTIVE';--> statement-breakpoint
CREATE INDEX "idx_tools_name_trgm" ON "tools" USING gin ("name" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "idx_tools_display_name_trgm" ON "tools" USING gin ("display_name" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "idx_tools_description_trgm" ON "tools" USING gin ("description" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "tools_tags" ON "tools" USING gin ("tags");--> statement-breakpoint
CREATE INDEX "tools_category" ON "tools" USING btree ("category_id");--> statement-breakpoint
CREATE INDEX "tools_newest" ON "tools" USING btree ("workspace_id","updated_at","id");--> statement-breakpoint
INSERT INTO "workspaces" ("id") VALUES ('default');--> statement-breakpoint
INSERT INTO "settings" ("name", "value") VALUES ('cursor_secret', to_jsonb(gen_random_uuid()::text || gen_random_uuid()::text));
