import { describe, expect, it } from 'vitest'
import { readServerJson } from './read-server-json.ts'
import { toRegistryServer } from './to-server-input.ts'
import { writeServerJson } from './write-server-json.ts'

interface Values {
  readonly set?: Readonly<Record<string, readonly string[]>>
  readonly env?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly package?: string
}

/** The source of a document with these values. */
function read(document: object, { set = {}, env = {}, headers = {}, package: wanted }: Values = {}) {
  const text = JSON.stringify({
    name: 'io.github.someone/weather',
    description: 'Weather',
    version: '1.0.0',
    ...document,
  })
  const values = { set: new Map(Object.entries(set)), env, headers, package: wanted, file: 'server.json' }
  return toRegistryServer(readServerJson(text, 'server.json'), values)
}

const npm = { registryType: 'npm', identifier: '@someone/weather', version: '1.2.3', transport: { type: 'stdio' } }
const pypi = { registryType: 'pypi', identifier: 'weather', version: '0.5.0', transport: { type: 'stdio' } }
const nuget = { registryType: 'nuget', identifier: 'Someone.Weather', version: '2.0.0', transport: { type: 'stdio' } }
const oci = { registryType: 'oci', identifier: 'ghcr.io/someone/weather:1.2.3', transport: { type: 'stdio' } }

describe('the command of a package', () => {
  it.each([
    [npm, 'npx', ['-y', '@someone/weather@1.2.3']],
    [
      { ...npm, runtimeHint: 'bunx', registryBaseUrl: 'https://registry.npmjs.org' },
      'bunx',
      ['-y', '@someone/weather@1.2.3'],
    ],
    [
      { ...npm, registryBaseUrl: 'https://npm.example.com/' },
      'npx',
      ['-y', '--registry=https://npm.example.com', '@someone/weather@1.2.3'],
    ],
    [pypi, 'uvx', ['weather@0.5.0']],
    [nuget, 'dnx', ['Someone.Weather@2.0.0', '--yes']],
    [
      {
        ...nuget,
        registryBaseUrl: 'https://nuget.example.com/v3/index.json',
        packageArguments: [{ type: 'positional', value: 'start' }],
      },
      'dnx',
      ['Someone.Weather@2.0.0', '--yes', '--source', 'https://nuget.example.com/v3/index.json', '--', 'start'],
    ],
    [oci, 'docker', ['run', '-i', '--rm', 'ghcr.io/someone/weather:1.2.3']],
    [
      { ...oci, identifier: 'someone/weather', version: '1.2.3', registryBaseUrl: 'https://docker.io' },
      'docker',
      ['run', '-i', '--rm', 'docker.io/someone/weather:1.2.3'],
    ],
  ])('%j', (each, command, args) => {
    expect(read({ packages: [each] })).toEqual({ name: 'weather', fields: { command, args } })
  })

  it('of a kind that no program runs by its name is refused with the next step', () => {
    const url = 'https://example.com/weather.mcpb'
    const mcpb = { registryType: 'mcpb', identifier: url, fileSha256: 'ab12', transport: { type: 'stdio' } }
    const cargo = { registryType: 'cargo', identifier: 'weather-mcp', version: '0.3.0', transport: { type: 'stdio' } }
    const hintOf = (each: object) => {
      try {
        read({ packages: [each] })
      } catch (thrown) {
        return (thrown as { hint?: string }).hint
      }
    }
    expect(hintOf(mcpb)).toContain(`Download ${url}, compare its SHA-256 with ab12, unpack it`)
    expect(hintOf(cargo)).toBe(
      'Run: cargo install --locked weather-mcp@0.3.0; then add the program: tooldex add NAME -- PROGRAM',
    )
    // Another package of the file is used where there is one.
    expect(read({ packages: [mcpb, npm] }).fields).toMatchObject({ command: 'npx' })
  })

  it('has the arguments with fixed, default and provided values', () => {
    const packages = [
      {
        ...npm,
        runtimeArguments: [
          {
            type: 'named',
            name: '--node-options',
            value: '--max-old-space-size={size}',
            variables: { size: { default: '512' } },
          },
        ],
        packageArguments: [
          { type: 'positional', value: 'start' },
          { type: 'positional', valueHint: 'folder', isRequired: true, isRepeated: true },
          { type: 'named', name: '--units', default: 'metric', choices: ['metric', 'imperial'] },
          { type: 'named', name: '--verbose' },
          { type: 'named', name: '--port' },
          { type: 'positional', value: 'kept {as} it is' },
        ],
      },
    ]
    const set = { folder: ['/a b', '/c'], '--verbose': [''] }
    expect(read({ packages }, { set }).fields.args).toEqual([
      ...['-y', '--node-options', '--max-old-space-size=512', '@someone/weather@1.2.3', 'start', '/a b', '/c'],
      ...['--units', 'metric', '--verbose', 'kept {as} it is'],
    ])
    expect(() => read({ packages }, { set: { ...set, '--units': ['kelvin'] } })).toThrow("--set --units is 'kelvin'.")
    expect(() => read({ packages }, { set: { ...set, '--unit': ['metric'] } })).toThrow("Did you mean '--units'?")
  })

  it('gets its variables, of which secrets are stored as such', () => {
    const environmentVariables = [
      { name: 'WEATHER_ACCOUNT', isRequired: true, isSecret: true, description: 'The account' },
      { name: 'WEATHER_UNITS', default: 'metric' },
      { name: 'WEATHER_LANGUAGE' },
    ]
    const env = { WEATHER_ACCOUNT: 'abc-123456', DEBUG: '1' }
    expect(read({ packages: [{ ...oci, environmentVariables }] }, { env }).fields).toEqual({
      command: 'docker',
      args: ['run', '-i', '--rm', '-e', 'WEATHER_ACCOUNT', '-e', 'WEATHER_UNITS', '-e', 'DEBUG', oci.identifier],
      env: { ...env, WEATHER_UNITS: 'metric' },
      secretNames: ['WEATHER_ACCOUNT'],
    })
  })

  it('lists everything that is missing, with the option for it', () => {
    const packages = [
      {
        ...npm,
        packageArguments: [{ type: 'positional', valueHint: 'city', isRequired: true, description: 'The city' }],
        environmentVariables: [{ name: 'WEATHER_KEY', isRequired: true, isSecret: true }],
      },
    ]
    const problems = [{ message: '--set city=VALUE (The city)' }, { message: '--env WEATHER_KEY=VALUE (a secret)' }]
    expect(() => read({ packages })).toThrow(
      expect.objectContaining({ code: 'USAGE', problems: problems.map((each) => expect.objectContaining(each)) }),
    )
  })

  it('has no secret, which would be stored and shown', () => {
    const packageArguments = [{ type: 'named', name: '--token', isRequired: true, isSecret: true }]
    const set = { '--token': ['abc-123456'] }
    expect(() => read({ packages: [{ ...npm, packageArguments }] }, { set })).toThrow(
      'A secret is part of the argument --token',
    )
  })

  it.each([
    [{ ...npm, version: 'latest' }, 'version latest is not one version'],
    [{ ...npm, version: '^1.2.3' }, 'is not one version'],
    [{ ...npm, runtimeHint: 'sh' }, 'its runtime is sh'],
    [{ ...npm, identifier: '--call=id' }, 'its identifier is an option'],
    [{ ...npm, fileSha256: 'f'.repeat(64) }, 'cannot verify its fileSha256'],
    [{ ...npm, transport: { type: 'streamable-http', url: 'http://localhost' } }, 'its transport is streamable-http'],
    [{ ...npm, registryType: 'mcpb' }, 'mcpb: packages of the type mcpb are not run by their names'],
    [{ ...npm, registryType: 'brew' }, 'brew: packages of the type brew are not supported'],
  ])('is refused for %j', (each, reason) => {
    expect(() => read({ packages: [each] })).toThrow(reason)
    expect(read({ packages: [each, pypi] }).fields.command).toBe('uvx')
  })
})

describe('a remote', () => {
  const headers = [
    { name: 'Authorization', value: 'Bearer {token}', variables: { token: { isRequired: true, isSecret: true } } },
    { name: 'X-Region', default: 'eu' },
  ]
  const remotes = [
    { type: 'sse', url: 'https://old.example.com/sse' },
    {
      type: 'streamable-http',
      url: 'https://{tenant}.example.com/mcp',
      headers,
      variables: { tenant: { isRequired: true } },
    },
  ]

  it('has its URL and headers with the values, and is of the newer transport where both are offered', () => {
    const values = {
      set: { tenant: ['acme'], token: ['abc-123456'] },
      headers: { 'x-region': 'us' },
      package: 'remote',
    }
    expect(read({ packages: [npm], remotes }, values).fields).toEqual({
      url: 'https://acme.example.com/mcp',
      headers: { Authorization: 'Bearer abc-123456', 'X-Region': 'us' },
      secretNames: ['Authorization'],
    })
  })

  it('is of the older transport where nothing else is offered', () => {
    expect(read({ remotes: [remotes[0]] }).fields).toEqual({ url: 'https://old.example.com/sse', type: 'sse' })
  })
})

it('reads the first revisions of the format, and the answer of a registry', () => {
  const old = {
    version_detail: { version: '1.0.2' },
    packages: [
      {
        registry_type: 'npm',
        identifier: 'weather',
        version: '1.0.2',
        environment_variables: [{ name: 'KEY', is_required: true }],
      },
    ],
    remotes: [{ transport_type: 'sse', url: 'https://old.example.com/sse' }],
  }
  expect(read(old, { env: { KEY: '1' } }).fields).toMatchObject({
    command: 'npx',
    args: ['-y', 'weather@1.0.2'],
    env: { KEY: '1' },
  })
  expect(read(old, { package: 'remote' }).fields).toEqual({ url: 'https://old.example.com/sse', type: 'sse' })
  const answer = { server: { name: 'io.github.someone/weather', packages: [pypi] }, _meta: {} }
  expect(readServerJson(JSON.stringify(answer), 'answer.json').packages).toHaveLength(1)
})

it('reports what is not valid with its place', () => {
  expect(() => read({ name: 'weather', packages: [{ identifier: 'x' }] })).toThrow(
    expect.objectContaining({
      code: 'INPUT_INVALID',
      problems: expect.arrayContaining([
        expect.objectContaining({ pointer: '/name' }),
        expect.objectContaining({ pointer: '/packages/0/registryType' }),
      ]),
    }),
  )
})

it('writes a toolset so that it reads back as the remote of its endpoint', () => {
  const toolset = { name: 'support', description: `For the desk. ${'Long. '.repeat(50)}` }
  const document = writeServerJson({ server: 'https://tools.example.com/', toolset, version: '2.0.0' })
  expect(document).toMatchObject({ name: 'com.example.tools/support', title: 'Tooldex: support', version: '2.0.0' })
  expect((document as { description: string }).description.length).toBeLessThanOrEqual(100)
  expect(read(document, { set: { key: ['secret:DESK'] } })).toEqual({
    name: 'support',
    fields: {
      url: 'https://tools.example.com/mcp/support',
      headers: { Authorization: 'Bearer secret:DESK' },
      secretNames: ['Authorization'],
    },
  })
  expect(() => writeServerJson({ server: 'http://127.0.0.1:7331', version: '1.0.0' })).toThrow('is not a domain')
})
