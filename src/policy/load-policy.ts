import { TooldexError } from '../base/errors.ts'
import { compilePattern } from '../base/pattern.ts'
import { readTextFile } from '../base/read-text-file.ts'
import { type Finding, parseTypedYaml, type TypedYaml } from '../base/typed-yaml.ts'
import { type KeyShape, sameKeys } from '../base/yaml-keys.ts'
import { Policy } from '../contract/policy.ts'

const policyKeys: KeyShape = {
  keys: sameKeys('executor default tools'),
  inside: {
    executor: { keys: { ...sameKeys('type image volumes network'), working_dir: 'workingDir' } },
    tools: {
      each: { keys: sameKeys('description args'), inside: { args: { each: { keys: sameKeys('pattern min max') } } } },
    },
  },
}

/** Loads a policy file; a rule that could not be kept (a bad regular expression, say) is an error here, not at the first call. */
export function loadPolicy(path: string): TypedYaml<Policy> {
  try {
    return parsePolicy(readTextFile(path), path)
  } catch (error) {
    if (!(error instanceof TooldexError) || error.code !== 'CONFIG_NOT_FOUND') throw error
    throw new TooldexError('POLICY_INVALID', `The policy file ${path} does not exist.`, { hint: 'Check its path.' })
  }
}

/** Reads a policy from YAML text. */
export function parsePolicy(text: string, file: string): TypedYaml<Policy> {
  return parseTypedYaml(
    text,
    file,
    {
      schema: Policy,
      keys: policyKeys,
      code: 'POLICY_INVALID',
      needs: "'default' or 'tools'",
      check: checkPolicy,
      // A key nobody knows is a rule nobody keeps.
    },
    true,
  )
}

function checkPolicy(policy: Policy): readonly Finding[] {
  const found: Finding[] = []
  if (policy.executor.type === 'docker' && policy.executor.image === undefined) {
    found.push({ path: ['executor'], message: 'executor.image is required for type docker', hint: 'name an image' })
  }
  for (const [tool, rule] of Object.entries(policy.tools)) {
    for (const [arg, { pattern, min, max }] of Object.entries(rule.args)) {
      const path = ['tools', tool, 'args', arg]
      if (min !== undefined && max !== undefined && min > max) {
        found.push({ path, message: `${tool}.${arg}: min ${min} is above max ${max}, so no value is allowed` })
      }
      if (pattern !== undefined) found.push(...checkPattern(pattern, [...path, 'pattern'], `${tool}.${arg}`))
    }
  }
  return found
}

function checkPattern(pattern: string, path: readonly PropertyKey[], name: string): readonly Finding[] {
  try {
    compilePattern(pattern)
    return []
  } catch (error) {
    const message = `${name}: the pattern is not a valid regular expression: ${(error as Error).message}`
    return [{ path, message, hint: 'RE2 syntax: no look-around, no back-references' }]
  }
}
