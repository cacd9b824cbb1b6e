import { type KeyShape, sameKeys } from '../documents/yaml-keys.ts'

/** The keys of a policy file. */
export const policyKeys: KeyShape = {
  keys: sameKeys('executor default tools callers'),
  inside: {
    executor: {
      keys: { ...sameKeys('type image volumes network'), working_dir: 'workingDir', workingDir: 'workingDir' },
    },
    tools: {
      each: {
        keys: {
          ...sameKeys('description args requireApproval requireReplay'),
          require_approval: 'requireApproval',
          require_replay: 'requireReplay',
        },
        inside: { args: { each: { keys: sameKeys('pattern min max') } } },
      },
    },
  },
}
