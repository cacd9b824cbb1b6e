// Draws docs/soak.svg from docs/soak-result.json: what the processes that were never killed held over time.
import { readFileSync, writeFileSync } from 'node:fs'

const docs = (name) => new URL(`../docs/${name}`, import.meta.url)
const { samples, minutes } = JSON.parse(readFileSync(docs('soak-result.json'), 'utf8'))
const [width, height, left, right] = [760, 430, 64, 640]
const colors = { server: '#0b6e4f', worker: '#c1121f' }

const panels = [
  { title: 'memory, MB', top: 40, bottom: 200, read: (held) => held.rss / 1e6 },
  { title: 'open files', top: 240, bottom: 390, read: (held) => held.files },
]

const text = (x, y, content, more = '') => `<text x="${x}" y="${y}" ${more}>${content}</text>`
const line = (x1, y1, x2, y2, color) => `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${color}"/>`
const atX = (second) => (left + (second / (minutes * 60)) * (right - left)).toFixed(1)

/** A round step that gives about four lines. */
function stepFor(most) {
  const power = 10 ** Math.floor(Math.log10(most / 4))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => most / step <= 5) ?? power * 10
}

function draw({ title, top, bottom, read }) {
  const most = Math.max(...samples.flatMap(({ server, worker }) => [read(server), read(worker)]))
  const step = stepFor(most)
  const high = Math.ceil(most / step) * step
  const atY = (value) => (bottom - (value / high) * (bottom - top)).toFixed(1)
  const ticks = Array.from({ length: Math.round(high / step) + 1 }, (_, index) => index * step)
  return [
    text(left, top - 10, title, 'font-weight="bold"'),
    ...ticks.flatMap((tick) => [
      line(left, atY(tick), right, atY(tick), '#ddd'),
      text(left - 8, Number(atY(tick)) + 4, tick, 'text-anchor="end"'),
    ]),
    ...Object.entries(colors).map(([who, color]) => {
      const points = samples.map((sample) => `${atX(sample.second)},${atY(read(sample[who]))}`)
      return `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="1.8"/>`
    }),
  ]
}

const marks = Array.from({ length: 5 }, (_, index) => (index * minutes) / 4)
const parts = [
  `<rect width="${width}" height="${height}" fill="#fff"/>`,
  ...panels.flatMap(draw),
  ...marks.map((minute) => text(atX(minute * 60), 412, `${minute} min`, 'text-anchor="middle"')),
  ...Object.entries(colors).map(([who, color], index) =>
    text(right + 16, 60 + index * 22, who, `fill="${color}" font-weight="bold"`),
  ),
]
const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222" role="img" aria-label="Memory and open files over the soak">`
writeFileSync(docs('soak.svg'), `${open}\n${parts.join('\n')}\n</svg>\n`)
