// Makes the API page interactive: reads the key of a login link, and sends the requests of the forms.
const slot = 'tooldex-key'
const timeoutMs = 60_000
const maxShown = 200_000

/** @template {Element} T @param {string} selector @param {new () => T} type @param {ParentNode} [within] */
function find(selector, type, within = document) {
  const found = within.querySelector(selector)
  if (!(found instanceof type)) throw new Error(`no element matches ${selector}`)
  return found
}

const who = find('#who', HTMLElement)
const signIn = find('#sign-in', HTMLFormElement)
const forget = find('#forget', HTMLButtonElement)

/** Removes the key from the URL and the history; browsers never send the part after #. */
function takeKeyFromUrl() {
  const key = new URLSearchParams(location.hash.slice(1)).get('key')
  if (key === null) return false
  sessionStorage.setItem(slot, key.trim())
  history.replaceState(null, '', location.pathname)
  return true
}

async function showWho() {
  const key = sessionStorage.getItem(slot)
  signIn.hidden = key !== null
  forget.hidden = key === null
  who.textContent = key === null ? '' : '…'
  if (key === null) return
  const answer = await fetch('/api/v1/keys/current', headersOf(key)).catch(() => undefined)
  const body = await answer?.json().catch(() => undefined)
  if (answer?.ok) who.textContent = `${body.name}: ${body.scopes.join(', ')}`
  else who.textContent = body?.detail ?? 'The server does not respond.'
  if (answer?.status !== 401) return
  sessionStorage.removeItem(slot)
  signIn.hidden = false
  forget.hidden = true
}

/** Without a key, the session of the console is used, if there is one. @param {string | null} key */
const headersOf = (key) => ({
  headers: key === null ? { 'x-tooldex-session': '1' } : { authorization: `Bearer ${key}` },
})

/** @param {HTMLFormElement} form */
function requestOf(form) {
  const method = form.dataset.method ?? 'get'
  let path = form.dataset.path ?? ''
  const query = new URLSearchParams()
  /** @type {Record<string, string>} */
  const headers = {}
  for (const field of form.querySelectorAll('[data-in]')) {
    if (!(field instanceof HTMLInputElement) || (field.value === '' && field.dataset.in !== 'path')) continue
    if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(field.value))
    else if (field.dataset.in === 'header') headers[field.name] = field.value
    else query.append(field.name, field.value)
  }
  const body = form.querySelector('textarea')?.value
  if (body) headers['content-type'] = 'application/json'
  const address = `/api/v1${path}${query.size === 0 ? '' : `?${query}`}`
  return { method: method.toUpperCase(), address, headers, ...(body ? { body } : {}) }
}

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`

/** The request as a curl command, without the key. @param {ReturnType<typeof requestOf>} request */
function curlOf({ method, address, headers, body }) {
  const more = Object.entries(headers).map(([name, value]) => ` -H ${quoted(`${name}: ${value}`)}`)
  const sent = body === undefined ? '' : ` -d ${quoted(body)}`
  const start = `curl -X ${method} -H "Authorization: Bearer $TOOLDEX_API_KEY"`
  return `${start}${more.join('')}${sent} ${quoted(location.origin + address)}`
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const request = requestOf(form)
  const status = find('.status', HTMLElement, form)
  const shown = find('pre.answer', HTMLElement, form)
  const stop = find('button.stop', HTMLButtonElement, form)
  const aborting = new AbortController()
  const late = setTimeout(() => aborting.abort(), timeoutMs)
  stop.onclick = () => aborting.abort()
  find('pre.curl', HTMLElement, form).textContent = curlOf(request)
  status.textContent = 'waiting …'
  shown.textContent = ''
  for (const part of form.querySelectorAll('.result')) part.toggleAttribute('hidden', false)
  stop.hidden = false
  const { address, method, body } = request
  const keyHeaders = headersOf(sessionStorage.getItem(slot)).headers
  const started = performance.now()
  try {
    const headers = { ...request.headers, ...keyHeaders }
    const answer = await fetch(address, { method, headers, signal: aborting.signal, ...(body ? { body } : {}) })
    const showStatus = () => {
      status.textContent = `${answer.status} ${answer.statusText}, ${Math.round(performance.now() - started)} ms`
    }
    showStatus()
    await show(answer, shown)
    showStatus()
  } catch (error) {
    const reason = aborting.signal.aborted
      ? 'cancelled'
      : `no response (${error instanceof Error ? error.message : error})`
    status.textContent = `${status.textContent}; ${reason}`
  } finally {
    clearTimeout(late)
    stop.hidden = true
  }
}

/** Shows a response while it arrives, as text and never as markup. @param {Response} answer @param {HTMLElement} shown */
async function show(answer, shown) {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    text += part.value
    shown.textContent = text.slice(0, maxShown)
    if (text.length <= maxShown) continue
    shown.textContent += `\n… (the first ${maxShown} characters)`
    await reader?.cancel()
    return
  }
  if (answer.headers.get('content-type')?.includes('json')) shown.textContent = pretty(text)
}

/** Indents JSON only if it survives a round trip, so that numbers are unchanged. @param {string} text */
function pretty(text) {
  try {
    const value = JSON.parse(text)
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text
  } catch {
    return text
  }
}

/** @param {string} wanted */
function filter(wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  for (const section of document.querySelectorAll('section')) {
    const entries = [...section.querySelectorAll('details.operation')]
    for (const entry of entries) {
      const text = entry.querySelector('summary')?.textContent?.toLowerCase() ?? ''
      entry.toggleAttribute('hidden', !words.every((word) => text.includes(word)))
    }
    section.hidden = entries.every((entry) => entry.hasAttribute('hidden'))
  }
}

function openNamed() {
  const [id = '', values = ''] = decodeURIComponent(location.hash.slice(1)).split('?')
  const named = document.getElementById(id)
  if (!(named instanceof HTMLDetailsElement)) return
  for (const [name, value] of new URLSearchParams(values)) {
    const field = named.querySelector(`input[name="${CSS.escape(name)}"]`)
    if (field instanceof HTMLInputElement) field.value = value
  }
  named.open = true
  named.scrollIntoView()
}

document.addEventListener('submit', (event) => {
  event.preventDefault()
  const form = event.target
  if (!(form instanceof HTMLFormElement)) return
  if (form === signIn) {
    sessionStorage.setItem(slot, find('input', HTMLInputElement, signIn).value.trim())
    signIn.reset()
    void showWho()
    return
  }
  const { method = '', path } = form.dataset
  if (method !== 'delete' || confirm(`Send this DELETE request (${path})?`)) void send(form)
})
forget.addEventListener('click', () => {
  sessionStorage.removeItem(slot)
  void showWho()
})
const searchField = find('#find', HTMLInputElement)
searchField.addEventListener('input', () => filter(searchField.value))
addEventListener('hashchange', () => {
  if (takeKeyFromUrl()) void showWho()
  else openNamed()
})

document.documentElement.classList.remove('needs-script')
takeKeyFromUrl()
void showWho()
openNamed()
