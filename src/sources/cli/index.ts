export { ConfigCache, createCliSource } from './cli-source.ts'
export { listBundledNames, listConfigNames, tooldexHome, userConfigsDir } from './config-files.ts'
export { loadConfig, loadConfigFile, parseConfig } from './parse-config.ts'
