import type { Tool } from '@modelcontextprotocol/server'
import { runCodeDefinition } from '../../operations/runs/run-code.ts'

/** The tool that runs programs, listed where code mode is on. */
export const runCodeTool = { name: 'run_code', ...runCodeDefinition } as unknown as Tool
