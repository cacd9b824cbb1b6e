import { describe, expect, it } from 'vitest'
import type { ArgDef, CliConfig } from '../../../contract/cli-config.ts'
import { parseConfig } from '../parse-config.ts'
import { draftConfig } from './draft-config.ts'
import { parseHelp } from './parse-help.ts'

/** A text dedented by its first line, so that it can stand in the test as help stands on a screen. */
function help(text: string): string {
  const lines = text.replace(/^\n/, '').split('\n')
  const indent = /^ */.exec(lines[0] ?? '')?.[0].length ?? 0
  return lines.map((line) => line.slice(indent)).join('\n')
}

const never = () => Promise.reject(new Error('nothing may be run'))

async function draftText(text: string, command = 'demo', subcommands: readonly string[] = []) {
  const draft = await draftConfig({ command, subcommands, max: 20, helpText: text, runHelp: never })
  return { ...draft, config: parseStrict(draft.yaml) }
}

function parseStrict(yaml: string): CliConfig {
  const { config, warnings } = parseConfig(yaml, 'draft', { strict: true })
  expect(warnings).toEqual([])
  return config
}

function argsOf(config: CliConfig, tool = config.tools[0]?.name): Record<string, ArgDef> {
  const found = config.tools.find(({ name }) => name === tool)
  expect(found, `the tool ${tool} among ${config.tools.map(({ name }) => name).join(', ')}`).toBeDefined()
  return Object.fromEntries(found?.args.map((arg) => [arg.name, arg]) ?? [])
}

describe('styles of help', () => {
  it('OpenSSL: a single dash, and +int for a number that is not negative', async () => {
    const text = help(`
      Usage: asn1parse [options]

      I/O options:
       -in infile       input file
       -noout           do not produce any output
       -offset +int     offset into file
       -length +int     length of section in file
    `)
    const args = argsOf((await draftText(text, 'asn1parse')).config)
    expect(args).toMatchObject({
      offset: { type: 'integer', flag: '-offset', description: 'offset into file' },
      length: { type: 'integer', flag: '-length' },
      noout: { type: 'boolean' },
    })
  })

  it('GNU: values with =, optional values, wrapped texts, texts that begin with a dash', async () => {
    const text = help(`
      Usage: chop [OPTION]... [FILE]...
      Print the first part of each FILE.

        -c, --bytes=[-]NUM       print the first NUM bytes of each file;
                                   with a leading '-', all but the last
        -n, --lines=[+]NUM       start at line NUM
            --color[=WHEN]       mark what was cut; WHEN is 'always', 'never', or 'auto'
            --null               -T reads names that end in NUL, as does
                                 --files-from when it is given
        -1 ("one"), --single     only one
            --sort=KEY, --order=KEY
                                 sort by KEY
        -x, --exclude-everything-under=DIR exclude DIR
            --help     display this help and exit
            --version  output version information and exit
    `)
    const { config, yaml, unsure } = await draftText(text, 'chop')
    const args = argsOf(config)
    expect(config.tools[0]).toMatchObject({ name: 'chop', description: 'Print the first part of each FILE.' })
    expect(Object.keys(args)).toEqual([
      'file',
      'bytes',
      'lines',
      'color',
      'null',
      'single',
      'sort',
      'exclude_everything_under',
    ])
    expect(args.file).toMatchObject({ positional: true, repeat: true, required: false, type: 'path' })
    expect(args.bytes).toMatchObject({ type: 'integer', flag: '--bytes' })
    expect(args.bytes?.description).toContain("with a leading '-', all but the last")
    expect(args.lines).toMatchObject({ type: 'string' })
    expect(args.color).toMatchObject({ flag: '--color=', enum: ['always', 'never', 'auto'] })
    expect(args.null).toMatchObject({ type: 'boolean' })
    expect(args.null?.description).toBe('-T reads names that end in NUL, as does --files-from when it is given')
    expect(args.sort).toMatchObject({ flag: '--sort', type: 'string', description: 'sort by KEY' })
    expect(args.exclude_everything_under).toMatchObject({ type: 'path', description: 'exclude DIR' })
    expect(unsure).toContain('chop.bytes: type guessed from NUM')
    expect(yaml).toContain('type: integer # unsure: type guessed from NUM')
    expect(yaml).toContain('tooldex validate FILE --strict')
    expect(yaml).toMatch(/# unsure: .*end_of_options/)
  })

  it('git: headings without a colon, texts on the next line, --[no-], -- before the positionals', async () => {
    const text = help(`
      usage: vcs save [-a | --all] [--[no-]sign] [-m <msg>] [--] [<pathspec>...]
         or: vcs save --abort

      Message options
          -q, --[no-]quiet      say nothing
          -m, --message <message>
                                the message
          -S, --gpg-sign[=<key-id>]
                                sign it: #now
          --[no-]trailer <trailer>...
                                add trailers
          --mode (fast|slow)    how fast
    `)
    const { config, yaml } = await draftText(text, 'vcs', ['save'])
    const args = argsOf(config)
    expect(config.tools[0]).toMatchObject({ name: 'vcs_save', command: 'save', endOfOptions: true })
    expect(args.pathspec).toMatchObject({ positional: true, repeat: true, required: false })
    expect(args.quiet).toMatchObject({ type: 'boolean', flag: '--quiet', description: 'say nothing' })
    expect(yaml).toContain('# the program also takes --no-quiet')
    expect(args.message).toMatchObject({ type: 'string', flag: '--message' })
    expect(args.gpg_sign).toMatchObject({ flag: '--gpg-sign=', description: 'sign it: #now' })
    expect(args.trailer).toMatchObject({ repeat: true, type: 'string' })
    expect(args.mode).toMatchObject({ enum: ['fast', 'slow'] })
    expect(args.abort).toMatchObject({ type: 'boolean' })
    expect(args.all).toMatchObject({ flag: '--all' })
  })

  it('curl: one space in, values in angle brackets, one space before a text', async () => {
    const text = help(`
      Usage: fetch [options...] <url>
       -d, --data <data>          Data to send
       -u, --user <user:password> Server user and password
           --cache <file name> Keep answers in this file
       -x, --proxy [protocol://]host[:port] Use this proxy
       -m, --max-time <fractional seconds> Longest time
       -b, --cookie <data|filename> Cookies from text or file
       -#, --progress-bar         A bar
       -V, --version              Show version number and quit
    `)
    const args = argsOf((await draftText(text, 'fetch')).config)
    expect(args.url).toMatchObject({ positional: true, required: true })
    expect(args.data).toMatchObject({ type: 'string', flag: '--data', description: 'Data to send' })
    expect(args.user).toMatchObject({ flag: '--user', description: 'Server user and password' })
    expect(args.cache).toMatchObject({ type: 'path', description: 'Keep answers in this file' })
    expect(args.proxy).toMatchObject({ type: 'string', description: 'Use this proxy' })
    expect(args.max_time).toMatchObject({ type: 'number' })
    expect(args.cookie?.enum).toBeUndefined()
    expect(args.progress_bar).toMatchObject({ type: 'boolean' })
    expect(args.version).toBeUndefined()
  })

  it('npm: a synopsis in brackets gives the values, rows give the texts', async () => {
    const text = help(`
      Put a package there

      Usage:
      pkg put [<package-spec> ...]

      Options:
      [-S|--save|--no-save|--save-dev] [-E|--save-exact]
      [--layout <flat|deep>] [--omit <dev|peer> [--omit <dev|peer> ...]]
      [--no-audit] [-w|--workspace <name> [-w|--workspace <name> ...]]

        -S|--save
          Save it as a dependency.

        --layout
          How to lay it out.

        --omit
          What to leave out.

        --audit
          Submit a report.

        -w|--workspace
          Where to work.

      aliases: add, i
    `)
    const args = argsOf((await draftText(text, 'pkg', ['put'])).config)
    expect(args.package_spec).toMatchObject({ positional: true, repeat: true, required: false })
    expect(args.save).toMatchObject({ type: 'boolean', flag: '--save', description: 'Save it as a dependency.' })
    expect(args.save_dev).toMatchObject({ type: 'boolean', flag: '--save-dev' })
    expect(args.layout).toMatchObject({ type: 'string', enum: ['flat', 'deep'], description: 'How to lay it out.' })
    expect(args.omit).toMatchObject({ repeat: true, enum: ['dev', 'peer'] })
    expect(args.no_audit).toMatchObject({ flag: '--no-audit', description: 'Turns off --audit: Submit a report.' })
    expect(args.workspace).toMatchObject({ repeat: true, type: 'string' })
  })

  it('clap: texts on the lines below, possible values, defaults, arguments', async () => {
    const text = help(`
      Bake things

      Usage: oven bake [OPTIONS] <RECIPE> [PANS]...

      Arguments:
        <RECIPE>   What to bake
        [PANS]...  Where to

      Options:
        -c, --config <FILE>
                Read settings from here

                A second paragraph is too much.
            --color <WHEN>
                Coloring

                Possible values:
                - auto:   when it fits
                - always: at all times

                [default: auto]
        -j, --jobs <N>          How many [default: 4]
        -t, --time <TIME>       [default: 30] [possible values: 30, 60]
        -v, --verbose...        Say more
        -h, --help              Print help
    `)
    const { config } = await draftText(text, 'oven', ['bake'])
    const args = argsOf(config)
    expect(config.tools[0]?.description).toBe('Bake things')
    expect(args.recipe).toMatchObject({ positional: true, required: true, description: 'What to bake' })
    expect(args.pans).toMatchObject({ positional: true, required: false, repeat: true })
    expect(args.config).toMatchObject({ type: 'path', description: 'Read settings from here' })
    expect(args.color).toMatchObject({ enum: ['auto', 'always'], flag: '--color' })
    expect(args.jobs).toMatchObject({ type: 'integer' })
    expect(args.jobs?.default).toBeUndefined()
    expect(args.time).toMatchObject({ type: 'integer', enum: [30, 60] })
    expect(args.verbose).toMatchObject({ type: 'boolean', repeat: false })
    expect(args.help).toBeUndefined()
  })

  it('argparse: positional arguments, choices, defaults, nargs, a value after each spelling', async () => {
    const text = help(`
      usage: grade.py [-h] [-l {low,high}] [--ratio RATIO] [--names NAME [NAME ...]]
                      [--pair A B] infile [outfile]

      Grade essays.

      positional arguments:
        infile                what to read
        outfile               what to write

      options:
        -h, --help            show this help message and exit
        -l {low,high}, --level {low,high}
                              how strict (default: low)
        --ratio RATIO         share to keep (default: 0.5)
        --tries TRIES         how often (default: 3)
        --names NAME [NAME ...]
                              whose
        --pair A B            two of them
    `)
    const args = argsOf((await draftText(text, './grade.py')).config, 'grade')
    expect(args.infile).toMatchObject({ positional: true, required: true, description: 'what to read' })
    expect(args.outfile).toMatchObject({ positional: true, required: false })
    expect(args.level).toMatchObject({ enum: ['low', 'high'], flag: '--level' })
    expect(args.ratio).toMatchObject({ type: 'number' })
    expect(args.tries).toMatchObject({ type: 'integer' })
    expect(args.names).toMatchObject({ type: 'array', repeat: false })
    expect(args.pair).toMatchObject({ type: 'array' })
  })

  it('cobra: types as value names, lists, booleans that are on, commands', async () => {
    const text = help(`
      Usage:  ship run [OPTIONS] IMAGE [COMMAND] [ARG...]

      Run one

      Flags:
            --env list         Set variables
            --format string    How to print ("json", "table") (default "table")
            --cpus decimal     How many
            --memory-swap int  How much
            --proxy-signals    Pass signals on (default true)
        -t, --tty              Allocate a terminal

      Global Flags:
            --host string   Where it runs
    `)
    const { config, yaml } = await draftText(text, 'ship', ['run'])
    const args = argsOf(config)
    expect(config.tools[0]?.endOfOptions).toBe(true)
    expect(args.env).toMatchObject({ type: 'string', repeat: true })
    expect(args.format).toMatchObject({ enum: ['json', 'table'] })
    expect(args.cpus).toMatchObject({ type: 'number' })
    expect(args.memory_swap).toMatchObject({ type: 'integer' })
    expect(args.proxy_signals).toMatchObject({ flag: '--proxy-signals=', enum: ['true', 'false'] })
    expect(args.host).toBeUndefined()
    expect(yaml).toContain('# left out, shared by all commands: --host')
    expect(yaml).toContain('# careful: interactive')
  })

  it('kubectl: defaults in place of value names', async () => {
    const text = help(`
      Show things.

      Options:
          -A, --all=false:
      \tShow all.

          --chunk=500:
      \tHow many.

          -f, --filename=[]:
      \tWhich files.

          --print=true:
      \tPrint.

          --note='':
      \tA note.

      Usage:
        kit get (TYPE [NAME | -l label] | TYPE/NAME ...) [flags]
    `)
    const args = argsOf((await draftText(text, 'kit', ['get'])).config)
    expect(args.type).toMatchObject({ positional: true, required: true })
    expect(args.name).toMatchObject({ positional: true, required: false })
    expect(args.all).toMatchObject({ type: 'boolean', flag: '--all' })
    expect(args.chunk).toMatchObject({ type: 'integer', description: 'How many. (default: 500)' })
    expect(args.filename).toMatchObject({ repeat: true })
    expect(args.print).toMatchObject({ flag: '--print=', enum: ['true', 'false'] })
    expect(args.note).toMatchObject({ type: 'string' })
  })

  it('click: types in capitals, choices in brackets, --on / --off, required', async () => {
    const text = help(`
      Usage: paint [OPTIONS] SRC...

        Paint a picture.

      Options:
        --count INTEGER RANGE         How many  [default: 1; 1<=x<=9]
        --shape [circle|square]       Which shape  [required]
        --shout / --no-shout          Loudly
        --into PATH                   Where to
        --help                        Show this message and exit.
    `)
    const args = argsOf((await draftText(text, 'paint')).config)
    expect(args.src).toMatchObject({ positional: true, required: true, repeat: true })
    expect(args.count).toMatchObject({ type: 'integer' })
    expect(args.shape).toMatchObject({ enum: ['circle', 'square'], required: true, flag: '--shape' })
    expect(args.shout).toMatchObject({ type: 'boolean', flag: '--shout' })
    expect(args.into).toMatchObject({ type: 'path' })
  })

  it('a manual: overstrikes and colours come off, options of sections are read', () => {
    const bold = (word: string) => [...word].map((char) => `${char}\b${char}`).join('')
    const text = `TOOL(1)\n\n${bold('NAME')}\n       tool - does it\n\n${bold('SYNOPSIS')}\n       tool [-q] <file>\n\n${bold('OPTIONS')}\n       \u001b[1m-q\u001b[0m, ${bold('--quiet')}\n           Say nothing.\n\n           At all.\n`
    const parsed = parseHelp(text, ['tool'])
    expect(parsed).toMatchObject({ summary: 'does it', positionals: [{ name: 'file', required: true }] })
    expect(parsed.options).toMatchObject([{ flags: ['-q', '--quiet'], description: 'Say nothing.' }])
  })

  it('a bare usage line: bundled letters, values, alternatives', () => {
    const parsed = parseHelp('usage: sh1 [-46AaC] [-p port] [-D [bind:]port] host [command [argument ...]]', ['sh1'])
    expect(parsed.options.map(({ flags, value }) => [flags[0], value?.name])).toEqual([
      ['-4', undefined],
      ['-6', undefined],
      ['-A', undefined],
      ['-a', undefined],
      ['-C', undefined],
      ['-p', 'port'],
      ['-D', 'port'],
    ])
    expect(parsed.positionals.map(({ name, required, repeat }) => [name, required, repeat])).toEqual([
      ['host', true, false],
      ['command', false, false],
      ['argument', false, true],
    ])
  })
})
