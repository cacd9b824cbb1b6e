import { TooldexError } from '../base/errors.ts'
import { Policy, policyKeys } from '../contract/policy.ts'
import { readTextFile } from '../documents/read-text-file.ts'
import { parseTypedYaml, type TypedYaml } from '../documents/typed-yaml.ts'
import { checkPolicy } from '../rules/check-policy.ts'

/** Loads a policy file; a rule that cannot be applied, such as an invalid regular expression, is an error here and not at the first call. */
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
      // An unknown key would be a rule that is not applied.
    },
    true,
  )
}
