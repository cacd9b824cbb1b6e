import {
  Activity,
  BookOpen,
  FileUp,
  FlaskConical,
  House,
  LayoutGrid,
  type LucideIcon,
  ShieldCheck,
  Unplug,
} from 'lucide-react'

/** A page in the sidebar and in the command palette. */
export interface NavigationItem {
  readonly label: string
  readonly path: string
  readonly icon: LucideIcon
  /** Words that find it in the command palette, too. */
  readonly words?: string
  /** A page of the server that is not part of the console. */
  readonly isOutside?: boolean
}

/** The pages in the order of the sidebar. */
export const navigation: readonly NavigationItem[] = [
  { label: 'Home', path: '/', icon: House, words: 'overview dashboard' },
  { label: 'Catalog', path: '/catalog', icon: LayoutGrid, words: 'tools search' },
  { label: 'Executions', path: '/executions', icon: Activity, words: 'runs calls history approve approval' },
  { label: 'Sources', path: '/sources', icon: Unplug, words: 'upstreams mcp servers configs openapi drift' },
  { label: 'Import', path: '/import', icon: FileUp, words: 'yaml openapi mcpservers bundle upload' },
  { label: 'Search lab', path: '/search-lab', icon: FlaskConical, words: 'eval golden requests lint findings' },
  {
    label: 'Admin',
    path: '/admin',
    icon: ShieldCheck,
    words: 'keys toolsets policies limits secrets audit workers queue database',
  },
  { label: 'API reference', path: '/docs', icon: BookOpen, words: 'rest openapi', isOutside: true },
]
