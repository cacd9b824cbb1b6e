import * as z from 'zod'

/** Size limits of the fields that MCP clients read beside the definition. */
const limits = { icons: 10, iconsBytes: 65_536, metaBytes: 16_384 }

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

const Icon = z.looseObject({
  src: z.string().regex(/^(https?:\/\/|data:image\/)/i, 'must be an http or https URL or a data:image/ URI'),
  mimeType: z.string().max(100).optional(),
  sizes: z.array(z.string().max(20)).max(20).optional(),
  theme: z.enum(['light', 'dark']).optional(),
})

/** The icons of a tool, as MCP defines them. */
export const ToolIcons = z
  .array(Icon)
  .max(limits.icons)
  .refine((icons) => bytesOf(icons) <= limits.iconsBytes, `must take at most ${limits.iconsBytes} bytes as JSON`)

const metaKey =
  /^(?:[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

/** Metadata for MCP clients: keys in the form that MCP requires, any JSON values. */
export const ToolMeta = z
  .record(
    z
      .string()
      .regex(metaKey, 'must be a key such as color or com.example/color: letters, digits and -_. after a prefix'),
    z.unknown(),
  )
  .refine((meta) => bytesOf(meta) <= limits.metaBytes, `must take at most ${limits.metaBytes} bytes as JSON`)
