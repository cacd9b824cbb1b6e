ALTER TABLE "tool_executions" ADD COLUMN "parent_id" uuid;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "code_mode" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX CONCURRENTLY "tool_executions_of_parent" ON "tool_executions" USING btree ("parent_id","created_at") WHERE "tool_executions"."parent_id" is not null;