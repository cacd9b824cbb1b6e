CREATE TABLE "workers" (
	"name" text PRIMARY KEY NOT NULL,
	"kind" varchar(20) NOT NULL,
	"version" varchar(100) NOT NULL,
	"executors" jsonb NOT NULL,
	"labels" jsonb NOT NULL,
	"slots" integer NOT NULL,
	"takes_work" boolean NOT NULL,
	"draining" boolean DEFAULT false NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "caller_label" text;--> statement-breakpoint
CREATE INDEX CONCURRENTLY "tool_executions_of_tool_name" ON "tool_executions" USING btree ("workspace_id","tool_name","created_at","id");--> statement-breakpoint
CREATE INDEX CONCURRENTLY "tool_executions_of_caller_label" ON "tool_executions" USING btree ("workspace_id","caller_label","created_at") WHERE "tool_executions"."caller_label" is not null;--> statement-breakpoint
CREATE INDEX CONCURRENTLY "tool_executions_of_worker" ON "tool_executions" USING btree ("worker") WHERE "tool_executions"."status" in ('PENDING', 'RUNNING');