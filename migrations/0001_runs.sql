CREATE TABLE "execution_events" (
	"execution_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"seq" integer NOT NULL,
	"stream" varchar(6) NOT NULL,
	"text" text NOT NULL,
	CONSTRAINT "execution_events_pk" PRIMARY KEY("execution_id","attempt","seq")
);
--> statement-breakpoint
CREATE TABLE "execution_results" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"execution_id" uuid NOT NULL,
	"caller_id" text,
	"media_type" text NOT NULL,
	"bytes" integer NOT NULL,
	"content" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "tool_executions" ALTER COLUMN "version" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "error_code" text;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "isolation" varchar(20);--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "exit_code" integer;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "stdout" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "stderr" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "truncated" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "timeout_ms" integer;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "reason" varchar(20);--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "label" varchar(64);--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "turn" bigint;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "worker" text;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "lease_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "attempt" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "max_attempts" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "cancel_requested" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "idempotency_key" varchar(200);--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "body_hash" text;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "definition" jsonb;--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "purpose" varchar(20);--> statement-breakpoint
ALTER TABLE "tool_executions" ADD COLUMN "decided_by" text;--> statement-breakpoint
ALTER TABLE "execution_events" ADD CONSTRAINT "execution_events_execution_id_tool_executions_id_fk" FOREIGN KEY ("execution_id") REFERENCES "public"."tool_executions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "execution_results" ADD CONSTRAINT "execution_results_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "execution_results" ADD CONSTRAINT "execution_results_execution_id_tool_executions_id_fk" FOREIGN KEY ("execution_id") REFERENCES "public"."tool_executions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "execution_results_age" ON "execution_results" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "execution_results_of_run" ON "execution_results" USING btree ("execution_id");--> statement-breakpoint
CREATE INDEX "tool_executions_by_status" ON "tool_executions" USING btree ("workspace_id","status","created_at");--> statement-breakpoint
CREATE INDEX "tool_executions_of_caller" ON "tool_executions" USING btree ("workspace_id","caller_id","created_at");--> statement-breakpoint
CREATE INDEX "tool_executions_of_trace" ON "tool_executions" USING btree ("workspace_id","trace_id") WHERE "tool_executions"."trace_id" is not null;--> statement-breakpoint
CREATE INDEX "tool_executions_queue" ON "tool_executions" USING btree ("label","turn","created_at") WHERE "tool_executions"."label" is not null and "tool_executions"."worker" is null and "tool_executions"."status" in ('PENDING', 'RUNNING');--> statement-breakpoint
CREATE INDEX "tool_executions_waiting_of_caller" ON "tool_executions" USING btree ("workspace_id","caller_id","turn") WHERE "tool_executions"."status" = 'PENDING';--> statement-breakpoint
CREATE INDEX "tool_executions_waiting_of_tool" ON "tool_executions" USING btree ("workspace_id","tool_name") WHERE "tool_executions"."status" = 'PENDING';--> statement-breakpoint
CREATE INDEX "tool_executions_lease" ON "tool_executions" USING btree ("lease_until") WHERE "tool_executions"."status" in ('PENDING', 'RUNNING');--> statement-breakpoint
CREATE UNIQUE INDEX "tool_executions_key" ON "tool_executions" USING btree ("workspace_id","caller_id","idempotency_key") WHERE "tool_executions"."idempotency_key" is not null and not ("tool_executions"."status" = 'CANCELLED' and "tool_executions"."attempt" = 0);--> statement-breakpoint
CREATE OR REPLACE FUNCTION tooldex_keep_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status NOT IN ('PENDING', 'RUNNING') THEN
    RAISE EXCEPTION 'execution % is final', OLD.id USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.status <> OLD.status AND NOT (
    (OLD.status = 'PENDING' AND NEW.status IN ('RUNNING', 'CANCELLED'))
    OR (OLD.status = 'RUNNING' AND NEW.status <> 'PENDING')
  ) THEN
    RAISE EXCEPTION 'execution % cannot go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER tool_executions_keep_final
  BEFORE UPDATE OF status, output_data, error_code, error_message, completed_at, attempt ON tool_executions
  FOR EACH ROW EXECUTE FUNCTION tooldex_keep_final();
