ALTER TABLE "tool_versions" ADD COLUMN "icons" json DEFAULT '[]'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "tool_versions" ADD COLUMN "meta" json DEFAULT '{}'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "tools" ADD COLUMN "icons" json DEFAULT '[]'::json NOT NULL;--> statement-breakpoint
ALTER TABLE "tools" ADD COLUMN "meta" json DEFAULT '{}'::json NOT NULL;