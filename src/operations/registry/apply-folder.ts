import * as z from 'zod'
import { readBundleFolder } from '../../sources/bundle/index.ts'
import { defineOperation } from '../operation.ts'
import { importBundle } from './bundles.ts'

/** Read a folder of files as one bundle. */
export const readFolder = defineOperation({
  name: 'bundle.readFolder',
  summary: 'Read tools, categories and policies kept as files.',
  scope: 'admin',
  input: z.object({ folder: z.string().min(1) }),
  output: z.object({
    bundle: importBundle.input.shape.bundle.unwrap(),
    files: z.array(z.string()),
    warnings: z.array(z.string()),
  }),
  handle({ folder }) {
    const { bundle, files, warnings } = readBundleFolder(folder)
    return { bundle, files: [...files], warnings: warnings.map(({ message }) => message) }
  },
})
