ALTER TABLE "sources" ADD COLUMN "left_out" integer;--> statement-breakpoint
UPDATE "sources" SET "left_out" = (COALESCE("seen", "manifest")->>'leftOut')::integer;
