import { expect, it } from 'vitest'
import { cutToStartup, padStartup } from './socket.ts'

it('keeps the options of the URL, and makes them long', () => {
  const url = padStartup('postgres://u@localhost/x?options=-c%20search_path%3Down&connect_timeout=2')
  const { searchParams } = new URL(url)
  expect([searchParams.get('options')?.trim(), searchParams.get('connect_timeout')]).toEqual([
    '-c search_path=own',
    '2',
  ])
  expect(searchParams.get('options')?.length).toBeGreaterThan(1024)
  expect(padStartup('postgres://localhost/x?')).toMatch(/^postgres:\/\/localhost\/x\?options=\++$/)
})

it('cuts off what was meant for the line before, and nothing else', () => {
  const startup = Buffer.from('\0\0\0\x0f\0\x03\0\0user\0u\0', 'latin1')
  const before = Buffer.from('Q\0\0\0\x0dselect 1\0', 'latin1')
  expect(cutToStartup(startup)).toEqual(startup)
  expect(cutToStartup(Buffer.concat([before, startup]))).toEqual(startup)
  expect(cutToStartup(before)).toBe(before)
})
