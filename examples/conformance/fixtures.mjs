// The tools, prompts and resources of the fixture server, as it lists them.

/** A red pixel as PNG. */
export const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='

/** The header of a WAV file without samples. */
export const sound = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const none = { type: 'object', properties: {} }
const tool = (name, description, inputSchema = none) => ({ name, description, inputSchema })
const needs = (properties) => ({ type: 'object', properties, required: Object.keys(properties) })
const string = (description) => ({ type: 'string', description })

const address = {
  $anchor: 'addressDef',
  type: 'object',
  properties: { street: { type: 'string' }, city: { type: 'string' } },
}

export const tools = [
  tool('test_simple_text', 'Returns a text.'),
  tool('test_image_content', 'Returns an image.'),
  tool('test_audio_content', 'Returns a sound.'),
  tool('test_embedded_resource', 'Returns an embedded resource.'),
  tool('test_multiple_content_types', 'Returns a text, an image and a resource.'),
  tool('test_tool_with_logging', 'Logs three steps.'),
  tool('test_logging_tool', 'Logs one step.'),
  tool('test_tool_with_progress', 'Reports its progress.'),
  tool('test_error_handling', 'Always fails.'),
  tool('test_sampling', 'Requests a sample of the model.', needs({ prompt: string('The prompt for the model.') })),
  tool('test_elicitation', 'Requests input of the user.', needs({ message: string('The message for the user.') })),
  tool('test_elicitation_sep1034_defaults', 'Requests input with defaults.'),
  tool('test_elicitation_sep1330_enums', 'Requests a choice.'),
  tool('json_schema_2020_12_tool', 'Has a schema with many keywords.', {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  }),
  tool('test_missing_capability', 'Needs a client that can sample.'),
  tool('test_streaming_elicitation', 'Requests a name.'),
  tool('test_reconnection', 'Returns a text.'),
  tool('test_x_mcp_header', 'Takes an argument that is also a header.', {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  }),
  tool('test_input_required_result_elicitation', 'Requests a name.'),
  tool('test_input_required_result_sampling', 'Requests a sample.'),
  tool('test_input_required_result_list_roots', 'Requests the roots.'),
  tool('test_input_required_result_request_state', 'Requests a confirmation, with a state.'),
  tool('test_input_required_result_multiple_inputs', 'Requests several inputs.'),
  tool('test_input_required_result_multi_round', 'Requests one input after another.'),
  tool('test_input_required_result_tampered_state', 'Rejects a changed state.'),
  tool('test_input_required_result_capabilities', 'Requests only what the client can answer.'),
  tool('greet', 'Greets somebody.', { type: 'object', properties: { name: { type: 'string' } } }),
  tool('slow_compute', 'Computes for a while.', {
    type: 'object',
    properties: { seconds: { type: 'number' }, label: { type: 'string' } },
  }),
  tool('failing_job', 'Fails after a while.'),
]

const argument = (name, description) => ({ name, description, required: true })

export const prompts = [
  { name: 'test_simple_prompt', description: 'A prompt without arguments.' },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with two arguments.',
    arguments: [argument('arg1', 'First test argument'), argument('arg2', 'Second test argument')],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource.',
    arguments: [argument('resourceUri', 'URI of the resource to embed')],
  },
  { name: 'test_prompt_with_image', description: 'A prompt with an image.' },
  { name: 'test_input_required_result_prompt', description: 'A prompt that requests input.' },
]

export const resources = [
  {
    uri: 'test://static-text',
    name: 'static-text',
    description: 'A text.',
    mimeType: 'text/plain',
    content: 'This is the content of the static text resource.',
  },
  { uri: 'test://static-binary', name: 'static-binary', description: 'An image.', mimeType: 'image/png' },
  {
    uri: 'test://watched-resource',
    name: 'watched-resource',
    description: 'A text that clients subscribe to.',
    mimeType: 'text/plain',
    content: 'This resource can be watched.',
  },
]

export const templates = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    description: 'Data by id.',
    mimeType: 'application/json',
  },
]
