import { type CliConfigInput, loadConfig, ToolIndex, type ToolIndexEntry } from '../../src/index.ts'
import { tempFile } from '../support/temp-folder.ts'

export const gitYaml = `
name: git-tools
description: Version control
command: git
category: vcs
tags: [version-control, commits]
working_dir: /tmp
env: {GIT_PAGER: cat}
global_args:
  - {name: no_pager, type: boolean, flag: --no-pager, default: true}
tools:
  - name: git_status
    description: What is changed and what is staged
    command: status
    args:
      - {name: short, type: boolean, description: Short form, flag: --short}
  - name: git_log
    description: The history of commits
    command: log
    timeout: 20
    args:
      - {name: max_count, type: integer, description: At most this many, default: 10, flag: -n}
      - {name: order, enum: [date, topo], flag: "--order="}
      - {name: revision, required: true, positional: true}
  - {name: git_branch, description: List branches, command: branch}
  - {name: git_commit, description: Record what is staged, command: commit}
  - {name: git_add, description: Stage files for the next commit, command: add}
`
export const dockerYaml = `
name: docker-tools
description: Containers and images
command: docker
category: containers
tags: [devops]
tools:
  - {name: docker_ps, description: List running containers and their status, command: ps}
  - {name: docker_commit, description: Make an image of a container, command: commit}
  - {name: docker_branch, description: Nothing of the kind exists, command: none}
`
export const plainYaml = `
name: plain
command: echo
tools:
  - {name: say, description: Print a text (a.b*c)}
`

/** A config as it is loaded from a file. */
export const load = (yaml: string) => loadConfig(tempFile('config.yaml', yaml))
export const indexOf = (...yamls: readonly string[]) => ToolIndex.fromConfigs(yamls.map(load))
export const names = (entries: readonly ToolIndexEntry[]) => entries.map((entry) => entry.toolName)
/** An index of git, docker and plain, in this order. */
export const three = () => indexOf(gitYaml, dockerYaml, plainYaml)
export const unlimited = Number.POSITIVE_INFINITY

/** A config of `count` tools for the tests of size. */
export function many(count: number): CliConfigInput {
  const tools = Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: `Shows status ${index}`,
  }))
  return { name: 'many', command: 'x', tools }
}

/** A config of tools that have nothing but a name. */
export const named = (name: string, ...tools: readonly string[]): CliConfigInput => {
  return { name, command: 'x', tools: tools.map((tool) => ({ name: tool, description: `of ${name}` })) }
}
