export { createCliSource } from './cli-source.ts'
export { ConfigCache } from './config-cache.ts'
export {
  listBundledNames,
  listConfigNames,
  loadConfig,
  loadConfigFile,
  tooldexHome,
  userConfigsDir,
} from './load-config.ts'
export { parseConfig } from './parse-config.ts'
