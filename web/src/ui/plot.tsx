import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import { useTheme } from '../app/theme.ts'

/** One line of a plot. */
export interface PlotLine {
  readonly label: string
  /** The token of its color, such as `--c-accent`. */
  readonly color: string
  readonly values: readonly (number | null)[]
}

interface PlotProps {
  readonly label: string
  /** Times in seconds. */
  readonly times: readonly number[]
  readonly lines: readonly PlotLine[]
  readonly isBars?: boolean
  readonly unit?: string
}

const height = 170
// Counts have no fractions.
const wholeSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((step) => [step, step * 1000, step * 1_000_000])
wholeSteps.sort((a, b) => a - b)

/** A plot over time, in the colors of the theme. Screen readers get its label; the numbers are beside it. */
export function Plot({ label, times, lines, isBars = false, unit = '' }: PlotProps) {
  const place = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colors
  useEffect(() => {
    const parent = place.current
    if (parent === null) return
    const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
    const axis = {
      stroke: token('--c-muted'),
      grid: { stroke: token('--c-line'), width: 1 },
      ticks: { show: false },
      font: '11px "Inter Variable", sans-serif',
    }
    const bars = isBars ? { paths: uPlot.paths.bars?.({ size: [0.6, 24] }) ?? (() => null) } : {}
    const plot = new uPlot(
      {
        width: parent.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        padding: [8, 8, 0, 0],
        axes: [
          { ...axis, size: 38 },
          {
            ...axis,
            size: 52,
            ...(isBars ? { incrs: wholeSteps } : {}),
            values: (_, marks) => marks.map((mark) => `${mark.toLocaleString('en')}${unit}`),
          },
        ],
        scales: { y: { range: (_, __, max) => [0, Math.max(max, 1) * 1.1] } },
        series: [
          {},
          ...lines.map(({ label: name, color }) => ({
            label: name,
            stroke: token(color),
            width: isBars ? 0 : 2,
            spanGaps: true,
            points: { show: !isBars, size: 5, fill: token(color) },
            ...(isBars ? { fill: token(color) } : {}),
            ...bars,
          })),
        ],
      },
      [[...times], ...lines.map(({ values }) => [...values])],
      parent,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: parent.clientWidth, height }))
    observer.observe(parent)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, lines, isBars, unit, theme])
  return (
    <figure className="min-w-0">
      <figcaption className="mb-1 flex flex-wrap items-center gap-x-4 text-xs text-muted">
        {lines.map(({ label: name, color }) => (
          <span key={name} className="flex items-center gap-1.5">
            <span aria-hidden className="size-2 rounded-full" style={{ background: `var(${color})` }} />
            {name}
          </span>
        ))}
      </figcaption>
      <div ref={place} role="img" aria-label={label} className="w-full overflow-hidden" style={{ height }} />
    </figure>
  )
}
