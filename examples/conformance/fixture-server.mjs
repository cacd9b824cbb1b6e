// The MCP server that the conformance suite expects behind an endpoint: its tools, prompts and resources.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  Server,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { image, prompts, resources, sound, templates, tools } from './fixtures.mjs'

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'
const text = (words) => ({ content: [{ type: 'text', text: words }] })
const invalid = (message, data) => new ProtocolError(-32602, message, data)
const form = (message, properties, required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } })
const sample = (words, maxTokens = 100) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens })
const string = { type: 'string' }

const key = process.pid.toString().padEnd(32, 'k')
const macOf = (state) => createHmac('sha256', key).update(state).digest('base64url')
const seal = (state) => `${state}.${macOf(state)}`
function open(sealed) {
  const at = String(sealed).lastIndexOf('.')
  const [state, mac] = [sealed.slice(0, at), Buffer.from(sealed.slice(at + 1))]
  const expected = Buffer.from(macOf(state))
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) throw invalid('The requestState was changed.')
  return state
}

/** The requests of a call that the client has not answered yet; undefined if all are answered. */
function unanswered(responses, requests, requestState) {
  const missing = Object.entries(requests).filter(([name]) => responses?.[name] === undefined)
  if (missing.length === 0) return undefined
  return inputRequired({ inputRequests: Object.fromEntries(missing), ...(requestState && { requestState }) })
}

const nameOf = (response) => response?.content?.name ?? 'nobody'
const askName = { user_name: form('What is your name?', { name: string }) }

async function elicit({ mcpReq }, message, schema, show) {
  const requests = { answer: inputRequired.elicit({ message, requestedSchema: schema }) }
  return unanswered(mcpReq.inputResponses, requests) ?? text(show(mcpReq.inputResponses.answer))
}

const shownAnswer = ({ action, content }) =>
  `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`

/** Reports steps as progress, which a gateway passes on as progress and as log messages. */
async function inSteps({ mcpReq }, steps, pauseMs = 300) {
  const progressToken = mcpReq._meta?.progressToken
  for (const [progress, message] of steps) {
    const params = { progressToken, progress, total: 100, message }
    if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params })
    await sleep(pauseMs)
  }
}

const handlers = {
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [{ type: 'image', data: image, mimeType: 'image/png' }] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: sound, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: image, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  }),
  async test_tool_with_logging(_, request) {
    await inSteps(request, [
      [10, 'Tool execution started'],
      [50, 'Tool processing data'],
      [100, 'Tool execution completed'],
    ])
    return text('The steps were logged.')
  },
  async test_logging_tool(_, request) {
    await inSteps(request, [[100, 'Only a client that requested log messages receives this']], 20)
    return text('The step was logged.')
  },
  async test_tool_with_progress(_, request) {
    await inSteps(request, [
      [0, 'begun'],
      [50, 'half'],
      [100, 'done'],
    ])
    return text('The progress was reported.')
  },
  test_error_handling: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  async test_sampling({ prompt }, { mcpReq }) {
    const asked = unanswered(mcpReq.inputResponses, { answer: sample(prompt) })
    return asked ?? text(`LLM response: ${mcpReq.inputResponses.answer.content?.text ?? ''}`)
  },
  test_elicitation: ({ message }, request) => {
    const properties = {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    }
    const schema = { type: 'object', properties, required: ['username', 'email'] }
    const shown = ({ action, content }) => `User response: action: ${action}, content: ${JSON.stringify(content ?? {})}`
    return elicit(request, message, schema, shown)
  },
  test_elicitation_sep1034_defaults: (_, request) => {
    const properties = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }
    return elicit(request, 'Check these values', { type: 'object', properties, required: [] }, shownAnswer)
  },
  test_elicitation_sep1330_enums: (_, request) => {
    const values = ['value1', 'value2', 'value3']
    const titled = ['First', 'Second', 'Third'].map((title, index) => ({
      const: values[index],
      title: `${title} Option`,
    }))
    const choices = titled.map(({ const: value, title }) => ({
      const: value,
      title: title.replace('Option', 'Choice'),
    }))
    const options = ['option1', 'option2', 'option3']
    const properties = {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: choices } },
    }
    return elicit(request, 'Choose', { type: 'object', properties, required: [] }, shownAnswer)
  },
  json_schema_2020_12_tool: () => text('The schema is in the list.'),
  test_missing_capability(_, request) {
    if (request.mcpReq.envelope?.[capabilitiesKey]?.sampling !== undefined) return text('The client can sample.')
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
  },
  test_streaming_elicitation: (_, request) => unanswered(request.mcpReq.inputResponses, askName) ?? text('answered'),
  test_reconnection: () => text('The connection was kept.'),
  test_x_mcp_header: ({ region = 'nowhere' }) => text(`The region is ${region}.`),
  test_input_required_result_elicitation(_, { mcpReq: { inputResponses } }) {
    return unanswered(inputResponses, askName) ?? text(`Hello, ${nameOf(inputResponses.user_name)}!`)
  },
  test_input_required_result_sampling(_, { mcpReq: { inputResponses } }) {
    const asked = unanswered(inputResponses, { capital_question: sample('What is the capital of France?') })
    return asked ?? text(`The model said: ${JSON.stringify(inputResponses.capital_question.content)}`)
  },
  test_input_required_result_list_roots(_, { mcpReq: { inputResponses } }) {
    const asked = unanswered(inputResponses, { client_roots: inputRequired.listRoots() })
    return asked ?? text(`The roots are ${JSON.stringify(inputResponses.client_roots.roots)}`)
  },
  test_input_required_result_request_state(_, { mcpReq }) {
    const requests = { confirm: form('Please confirm', { ok: { type: 'boolean' } }) }
    const asked = unanswered(mcpReq.inputResponses, requests, seal('confirm'))
    return asked ?? text(open(mcpReq.requestState()) === 'confirm' ? 'state-ok' : 'another state')
  },
  test_input_required_result_multiple_inputs(_, { mcpReq }) {
    const requests = {
      ...askName,
      greeting: sample('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    }
    const asked = unanswered(mcpReq.inputResponses, requests, seal('several'))
    return asked ?? text(`All inputs were received from ${nameOf(mcpReq.inputResponses.user_name)}.`)
  },
  test_input_required_result_multi_round(_, { mcpReq }) {
    const state = mcpReq.requestState()
    const step = state === undefined ? 'none' : open(state).split(' ')[0]
    const steps = {
      none: ['step1', 'Step 1: What is your name?', { name: string }],
      step1: ['step2', 'Step 2: What is your favorite color?', { color: string }],
    }
    const answered = step !== 'none' && mcpReq.inputResponses?.[step] !== undefined
    if (step === 'step2' && answered) return text(`Done after ${step}.`)
    const [name, message, properties] = steps[answered || step === 'none' ? step : 'none']
    return inputRequired({
      inputRequests: { [name]: form(message, properties) },
      requestState: seal(`${name} ${Date.now()}`),
    })
  },
  test_input_required_result_tampered_state(_, { mcpReq }) {
    const state = mcpReq.requestState()
    if (state !== undefined) open(state)
    const requests = { confirm: form('Please confirm', { ok: { type: 'boolean' } }) }
    return unanswered(mcpReq.inputResponses, requests, seal('tampered')) ?? text('The state is unchanged.')
  },
  test_input_required_result_capabilities(_, { mcpReq }) {
    const { elicitation, sampling, roots } = mcpReq.envelope?.[capabilitiesKey] ?? {}
    const requests = {
      ...(elicitation && askName),
      ...(sampling && { question: sample('What can you do?') }),
      ...(roots && { client_roots: inputRequired.listRoots() }),
    }
    if (Object.keys(requests).length === 0) return text('The client cannot be asked.')
    return unanswered(mcpReq.inputResponses, requests) ?? text('All was answered.')
  },
  greet: ({ name = 'world' }) => text(`Hello, ${name}!`),
  async slow_compute({ seconds = 1, label = 'value' }) {
    await sleep(seconds * 1000)
    return text(`Computed ${label} in ${seconds} s.`)
  },
  async failing_job() {
    await sleep(3000)
    return { ...text('The job failed.'), isError: true }
  },
}

const promptHandlers = {
  test_simple_prompt: () => [{ type: 'text', text: 'This is a simple prompt for testing.' }],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [
    { type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` },
  ],
  test_prompt_with_embedded_resource: ({ resourceUri: uri }) => [
    { type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } },
    { type: 'text', text: 'Please process the embedded resource above.' },
  ],
  test_prompt_with_image: () => [
    { type: 'image', data: image, mimeType: 'image/png' },
    { type: 'text', text: 'Please analyze the image above.' },
  ],
}

function getPrompt({ params: { name, arguments: args = {} } }, { mcpReq: { inputResponses } }) {
  if (name === 'test_input_required_result_prompt') {
    const requests = { user_context: form('What context should the prompt use?', { context: string }) }
    const asked = unanswered(inputResponses, requests)
    const content = { type: 'text', text: `The context is ${inputResponses?.user_context?.content?.context}.` }
    return asked ?? { messages: [{ role: 'user', content }] }
  }
  if (!Object.hasOwn(promptHandlers, name)) throw invalid(`Unknown prompt: ${name}`)
  const missing = prompts
    .find((prompt) => prompt.name === name)
    .arguments?.find((each) => each.required && !args[each.name])
  if (missing !== undefined) throw invalid(`${name} needs ${missing.name}`)
  return { messages: promptHandlers[name](args).map((content) => ({ role: 'user', content })) }
}

function readResource({ params: { uri } }) {
  const known = resources.find((resource) => resource.uri === uri)
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: image }] }
  if (known !== undefined) return { contents: [{ uri, mimeType: known.mimeType, text: known.content }] }
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? []
  if (id === undefined) throw invalid('Resource not found', { uri })
  const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
  return { contents: [{ uri, mimeType: 'application/json', text: data }] }
}

serveStdio(() => {
  const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {} }
  const server = new Server({ name: 'fixtures', version: '1.0.0' }, { capabilities })
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, request) => {
    if (!Object.hasOwn(handlers, name)) throw invalid(`Unknown tool: ${name}`)
    return handlers[name](args, request)
  })
  server.setRequestHandler('prompts/list', () => ({ prompts }))
  server.setRequestHandler('prompts/get', getPrompt)
  server.setRequestHandler('resources/list', () => ({
    resources: resources.map(({ content: _, ...resource }) => resource),
  }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: templates }))
  server.setRequestHandler('resources/read', readResource)
  server.setRequestHandler('completion/complete', ({ params: { argument } }) => ({
    completion: { values: ['paris', 'park', 'party'].filter((word) => word.startsWith(argument.value)) },
  }))
  return server
})
