-- json keeps the order of keys, which jsonb does not. One statement a table, so that each table is rewritten once.
-- A column that a trigger names cannot be altered.
DROP TRIGGER tool_executions_keep_final ON tool_executions;--> statement-breakpoint
ALTER TABLE "tool_executions"
  ALTER COLUMN "input_data" SET DATA TYPE json,
  ALTER COLUMN "output_data" SET DATA TYPE json,
  ALTER COLUMN "definition" SET DATA TYPE json;--> statement-breakpoint
CREATE TRIGGER tool_executions_keep_final
  BEFORE UPDATE OF status, output_data, error_code, error_message, completed_at, attempt ON tool_executions
  FOR EACH ROW EXECUTE FUNCTION tooldex_keep_final();--> statement-breakpoint
ALTER TABLE "audit_entries"
  ALTER COLUMN "before" SET DATA TYPE json,
  ALTER COLUMN "after" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "idempotent_answers"
  ALTER COLUMN "body" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "policies"
  ALTER COLUMN "policy" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "tool_proposals"
  ALTER COLUMN "change" SET DATA TYPE json,
  ALTER COLUMN "replay" SET DATA TYPE json;--> statement-breakpoint
ALTER TABLE "tool_versions"
  ALTER COLUMN "input_schema" SET DATA TYPE json,
  ALTER COLUMN "output_schema" SET DATA TYPE json,
  ALTER COLUMN "output_schema" SET DEFAULT '{}'::json,
  ALTER COLUMN "executor_config" SET DATA TYPE json,
  ALTER COLUMN "executor_config" SET DEFAULT '{}'::json,
  ALTER COLUMN "examples" SET DATA TYPE json,
  ALTER COLUMN "examples" SET DEFAULT '[]'::json,
  ALTER COLUMN "annotations" SET DATA TYPE json,
  ALTER COLUMN "annotations" SET DEFAULT '{}'::json;--> statement-breakpoint
ALTER TABLE "tools"
  ALTER COLUMN "input_schema" SET DATA TYPE json,
  ALTER COLUMN "output_schema" SET DATA TYPE json,
  ALTER COLUMN "output_schema" SET DEFAULT '{}'::json,
  ALTER COLUMN "executor_config" SET DATA TYPE json,
  ALTER COLUMN "executor_config" SET DEFAULT '{}'::json,
  ALTER COLUMN "examples" SET DATA TYPE json,
  ALTER COLUMN "examples" SET DEFAULT '[]'::json,
  ALTER COLUMN "annotations" SET DATA TYPE json,
  ALTER COLUMN "annotations" SET DEFAULT '{}'::json;
