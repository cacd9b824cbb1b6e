import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { needs } from '../support/needs.ts'
import { projectRoot } from '../support/run-cli.ts'
import { tempFolder } from '../support/temp-folder.ts'

const inNamespace = needs(
  process.platform === 'linux' && process.geteuid?.() === 0 && existsSync('/usr/bin/unshare'),
  'needs root on Linux, for a network namespace without routes',
)

const addresses = [
  ...['127.0.0.1', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '0177.0.0.1', '2130706433', '0x7f.1'],
  ...['localhost', 'localhost.', 'a.localhost', '[::]', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['100.64.0.1', '169.254.169.254', '[fd00:ec2::254]', '[fe80::1]', '[fec0::1]', '[::127.0.0.1]', '[2002:7f00:1::]'],
  ...['metadata.google.internal', '224.0.0.1', '255.255.255.255', '127.1', '[64:ff9b:1::1]', '192.0.2.1', '198.18.0.1'],
]

describe('faults 135, 136, 137, 140 and 143: private addresses', () => {
  inNamespace('refuses them in every spelling, by name and after rebinding; the canary sees nothing', () => {
    const folder = tempFolder()
    const resolv = join(folder, 'resolv.conf')
    writeFileSync(resolv, 'nameserver 127.0.0.1\noptions timeout:30 attempts:2\n')
    const script = `ip link set lo up && ip addr add 93.184.216.34/32 dev lo && ip addr add 93.184.216.35/32 dev lo && mount --bind ${resolv} /etc/resolv.conf && exec "$@"`
    const inside = join(projectRoot, 'tests/faults/http-guard-inside.mjs')
    const words = ['--net', '--mount', '--fork', 'bash', '-c', script, 'bash', process.execPath, inside]
    const { stdout, stderr } = spawnSync('unshare', [...words, JSON.stringify(addresses)], {
      encoding: 'utf8',
      timeout: 170_000,
    })
    const told = JSON.parse(stdout || JSON.stringify({ stderr }))
    expect(told.hops).toEqual({
      private: 'FAILED ADDRESS_REFUSED false',
      chain: 'FAILED ADDRESS_REFUSED false',
      file: 'FAILED ADDRESS_REFUSED false',
      loop: 'FAILED ADDRESS_REFUSED false',
      other: 'SUCCESS null false',
      body: 'FAILED ADDRESS_REFUSED false',
    })
    // Another host is asked without the secret of the first.
    expect(told.carried).toEqual([{ url: '/here', authorization: null, method: 'GET' }])
    expect(told.answers).toEqual(Object.fromEntries(addresses.map((address) => [address, 'FAILED ADDRESS_REFUSED'])))
    expect(told.guarded).toBe(0)
    expect(told.names.mixed).toBe('FAILED ADDRESS_REFUSED')
    expect(told.names.inside).toBe('FAILED ADDRESS_REFUSED')
    expect(told.names.rebind.at(-1)).toBe('FAILED ADDRESS_REFUSED')
    expect(told.byNames).toBe(0)
    // The switch of a tool opens the way, and shows that the canary was listening.
    expect([told.allowed, told.reached]).toEqual(['SUCCESS null', 1])
  })
})
