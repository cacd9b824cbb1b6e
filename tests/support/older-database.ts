/** How far the older database came with the three migrations that its own data model asked for. */
export type OlderStage = 0 | 1 | 2 | 3

const id = (kind: number, at: number): string => `0000000${kind}-0000-4000-8000-${String(at).padStart(12, '0')}`
export const olderIds = {
  top: id(1, 1),
  below: id(1, 2),
  search: id(2, 1),
  plain: id(2, 2),
  version: (at: number) => id(3, at),
  execution: (at: number) => id(4, at),
}

/** A database of the first data model, with what could go wrong in it; `status` as an enum or as a plain text. */
export function olderDatabase(stage: OlderStage, status: 'enum' | 'varchar', badName?: string): string {
  const { top, below, search, plain, version, execution } = olderIds
  const type = (name: string) => (status === 'enum' ? name : 'varchar(20)')
  return `
${status === 'enum' ? "CREATE TYPE toolstatus AS ENUM ('DRAFT','ACTIVE','DEPRECATED','DISABLED'); CREATE TYPE executionstatus AS ENUM ('PENDING','RUNNING','SUCCESS','FAILED','TIMEOUT','CANCELLED');" : ''}
CREATE TABLE tool_categories (id uuid PRIMARY KEY, name varchar NOT NULL UNIQUE, description text,
  parent_id uuid REFERENCES tool_categories(id), created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
CREATE TABLE tools (id uuid PRIMARY KEY, name varchar(100) NOT NULL UNIQUE, display_name varchar(200) NOT NULL,
  description text NOT NULL, status ${type('toolstatus')} DEFAULT 'DRAFT', category_id uuid REFERENCES tool_categories(id),
  tags jsonb DEFAULT '[]', input_schema jsonb NOT NULL, output_schema jsonb DEFAULT '{}', executor_type varchar DEFAULT 'python',
  executor_config jsonb DEFAULT '{}', current_version varchar(20) DEFAULT '1.0.0', created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
CREATE TABLE tool_versions (id uuid PRIMARY KEY, tool_id uuid NOT NULL REFERENCES tools(id), version varchar(20) NOT NULL,
  changelog text, input_schema jsonb, output_schema jsonb, executor_config jsonb, is_latest boolean DEFAULT true,
  created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
CREATE TABLE tool_executions (id uuid PRIMARY KEY, tool_id uuid NOT NULL REFERENCES tools(id), version varchar(20) NOT NULL,
  status ${type('executionstatus')} DEFAULT 'PENDING', input_data jsonb NOT NULL, output_data jsonb, error_message text,
  started_at timestamp, completed_at timestamp, duration_ms integer, caller_id varchar, trace_id varchar,
  created_at timestamp NOT NULL, updated_at timestamp NOT NULL);
INSERT INTO tool_categories VALUES ('${below}', 'below', NULL, NULL, '2025-01-01', '2025-01-01'), ('${top}', 'top', 'all', NULL, '2025-01-01', '2025-01-01');
UPDATE tool_categories SET parent_id = '${top}' WHERE id = '${below}';
INSERT INTO tools VALUES
 ('${search}', 'search_web', 'Search', 'Finds', 'ACTIVE', '${below}', '["web"]', '{"type":"object","properties":{"n":{"const":3}}}', '{}', 'http', '{"url":"https://x"}', '2.0.0', '2025-01-01 10:00:00.5', '2025-03-01 10:00'),
 ('${plain}', '${badName ?? 'plain'}', 'Plain', 'Does', 'DRAFT', NULL, '[]', '{"type":"object"}', '{}', 'python', '{}', '1.0.0', '2025-02-01', '2025-02-01');
INSERT INTO tool_versions VALUES
 ('${version(4)}', '${search}', '2.0.0', 'third', '{"type":"object","properties":{"n":{"const":3}}}', '{}', '{"url":"https://x"}', true, '2025-03-01 10:00:00.000002', '2025-03-01'),
 ('${version(1)}', '${search}', '1.0.0', 'first', '{"type":"object","properties":{"n":{"const":1}}}', '{}', '{}', true, '2025-01-01 10:00', '2025-01-01'),
 ('${version(9)}', '${search}', '1.1.0', 'second', '{"$schema":"https://json-schema.org/draft/2020-12/schema"}', '{"type":"string"}', '{"b":1}', false, '2025-03-01 10:00:00.000001', '2025-03-01');
INSERT INTO tool_executions VALUES
 ('${execution(1)}', '${search}', '1.0.0', 'SUCCESS', '{"q":1}', '{"ok":true}', NULL, '2025-01-02 00:00', '2025-01-02 00:01', 60000, 'me', 'trace', '2025-01-02', '2025-01-02'),
 ('${execution(2)}', '${search}', '1.1.0', 'FAILED', '{}', NULL, 'broke', NULL, NULL, NULL, NULL, NULL, '2025-03-02', '2025-03-02'),
 ('${execution(3)}', '${plain}', '1.0.0', 'PENDING', '[]', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2025-03-02', '2025-03-02');
${stage >= 1 ? `ALTER TABLE tools ADD COLUMN script_content TEXT; UPDATE tools SET script_content = 'def main(): pass' WHERE id = '${plain}';` : ''}
${stage >= 2 ? `ALTER TABLE tool_versions ADD COLUMN script_content TEXT; UPDATE tool_versions SET script_content = 'v2' WHERE version = '1.1.0';` : ''}
${
  stage >= 3
    ? `ALTER TABLE tools ALTER COLUMN current_version DROP DEFAULT; ALTER TABLE tools ALTER COLUMN current_version TYPE INTEGER USING (split_part(current_version, '.', 1)::INTEGER);
ALTER TABLE tools RENAME COLUMN current_version TO version; ALTER TABLE tools ALTER COLUMN version SET DEFAULT 1;`
    : ''
}`
}
