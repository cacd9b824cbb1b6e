// Lines on two logarithmic axes, as an SVG.

const [width, height] = [760, 460]
const area = { left: 74, right: 560, top: 48, bottom: 396 }
const colors = ['#0b6e4f', '#5fb49c', '#c1121f', '#e09f3e', '#335c81', '#8e6bbf']
const shapes = ['', '6 3', '', '', '', '']

const escapeText = (text) => text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign])
const round = (value) => Math.round(value * 10) / 10

/** From the power of ten below the least value to the one above the greatest. */
function decades(values) {
  const [low, high] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))]
  return Array.from({ length: Math.max(high, low + 1) - low + 1 }, (_, index) => 10 ** (low + index))
}

const scale = (ticks, from, to) => {
  const [low, high] = [Math.log10(ticks[0]), Math.log10(ticks.at(-1))]
  return (value) => round(from + ((Math.log10(value) - low) / (high - low)) * (to - from))
}

const text = (x, y, content, more = '') => `<text x="${x}" y="${y}" ${more}>${escapeText(content)}</text>`
const line = (x1, y1, x2, y2, color) => `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${color}"/>`

/** `series` is a list of `{ name, points: [[x, y], ...] }`. */
export function drawLines({ title, x, y, series }) {
  const all = series.flatMap(({ points }) => points)
  const [ticksX, ticksY] = [decades(all.map(([value]) => value)), decades(all.map(([, value]) => value))]
  const [atX, atY] = [scale(ticksX, area.left, area.right), scale(ticksY, area.bottom, area.top)]
  const [middleX, middleY] = [(area.left + area.right) / 2, (area.top + area.bottom) / 2]
  const parts = [
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    text(area.left, 26, title, 'font-size="16" font-weight="bold"'),
    ...ticksX.flatMap((tick) => [
      line(atX(tick), area.top, atX(tick), area.bottom, '#ddd'),
      text(atX(tick), area.bottom + 20, tick.toLocaleString('en'), 'text-anchor="middle"'),
    ]),
    ...ticksY.flatMap((tick) => [
      line(area.left, atY(tick), area.right, atY(tick), '#ddd'),
      text(area.left - 8, atY(tick) + 4, tick.toLocaleString('en', { maximumFractionDigits: 6 }), 'text-anchor="end"'),
    ]),
    line(area.left, area.top, area.left, area.bottom, '#333'),
    line(area.left, area.bottom, area.right, area.bottom, '#333'),
    text(middleX, area.bottom + 46, `${x} (logarithmic)`, 'text-anchor="middle"'),
    text(20, middleY, `${y} (logarithmic)`, `text-anchor="middle" transform="rotate(-90 20 ${middleY})"`),
    ...series.flatMap(({ points }, index) => drawSeries(points, index, atX, atY)),
    ...legend(series),
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222" role="img" aria-label="${escapeText(title)}">\n${parts.join('\n')}\n</svg>\n`
}

const stroke = (index) =>
  `fill="none" stroke="${colors[index % colors.length]}" stroke-width="2.2" stroke-dasharray="${shapes[index % shapes.length]}"`

function drawSeries(points, index, atX, atY) {
  const placed = points.map(([x, y]) => [atX(x), atY(y)])
  const dots = placed.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3.5" fill="${colors[index % colors.length]}"/>`)
  return [`<polyline points="${placed.map((point) => point.join(',')).join(' ')}" ${stroke(index)}/>`, ...dots]
}

/** In the order in which the lines end, from the slowest down. */
function legend(series) {
  const last = ({ points }) => points.at(-1)?.[1] ?? 0
  return [...series.entries()]
    .sort(([, a], [, b]) => last(b) - last(a))
    .flatMap(([index, { name }], row) => {
      const top = area.top + 20 + row * 24
      const from = area.right + 20
      return [
        `<polyline points="${from},${top} ${from + 28},${top}" ${stroke(index)}/>`,
        text(from + 36, top + 4, name),
      ]
    })
}
