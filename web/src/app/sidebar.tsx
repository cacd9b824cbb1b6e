import { Link } from '@tanstack/react-router'
import { cx } from '../ui/cx.ts'
import { Brand } from './brand.tsx'
import { type NavigationItem, navigation } from './navigation.ts'

const item =
  'flex h-8 items-center gap-2.5 rounded-md px-2 text-sm text-muted transition-colors hover:bg-hover hover:text-text'

/** The pages; on narrow screens they are in a drawer. */
export function Sidebar({ onNavigate }: { readonly onNavigate?: () => void }) {
  return (
    <nav aria-label="Pages" className="flex h-full flex-col gap-4 p-3">
      <div className="px-2 pt-1">
        <Brand />
      </div>
      <ul className="flex flex-col gap-0.5">
        {navigation.map((page) => (
          <li key={page.path}>
            <NavigationLink page={page} {...(onNavigate === undefined ? {} : { onNavigate })} />
          </li>
        ))}
      </ul>
    </nav>
  )
}

function NavigationLink({ page, onNavigate }: { readonly page: NavigationItem; readonly onNavigate?: () => void }) {
  const content = (
    <>
      <page.icon className="size-4 shrink-0" aria-hidden />
      {page.label}
    </>
  )
  if (page.isOutside)
    return (
      <a href={page.path} className={item}>
        {content}
      </a>
    )
  return (
    <Link
      to={page.path}
      activeOptions={{ exact: page.path === '/', includeSearch: false }}
      activeProps={{ className: cx('bg-hover font-medium text-text!'), 'aria-current': 'page' }}
      className={item}
      {...(onNavigate === undefined ? {} : { onClick: onNavigate })}
    >
      {content}
    </Link>
  )
}
