export { createCliSource } from './cli-source.ts'
export { listConfigNames, loadConfig, loadConfigFile, resolveConfig, userConfigsDir } from './load-config.ts'
export { parseConfig } from './parse-config.ts'
