CREATE TABLE "learned_queries" (
	"workspace_id" varchar(64) DEFAULT 'default' NOT NULL,
	"query_hash" varchar(64) NOT NULL,
	"tool_id" varchar(300) NOT NULL,
	"query" text NOT NULL,
	"successes" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "learned_queries_pk" PRIMARY KEY("workspace_id","query_hash","tool_id")
);
--> statement-breakpoint
ALTER TABLE "learned_queries" ADD CONSTRAINT "learned_queries_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "learned_queries_newest" ON "learned_queries" USING btree ("workspace_id","updated_at");