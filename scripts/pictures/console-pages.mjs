// The pages of the console that are photographed: name, path, and the element that shows that a page is complete.

const text = (pattern) => (page) => page.locator('main').getByText(pattern).first().waitFor()
const role = (kind, name) => (page) => page.getByRole(kind, { name }).first().waitFor()

/** All pages, with the ids of runs. */
export const consolePages = ({ run, other, failed }) => [
  ['home', '/', (page) => page.locator('.uplot canvas').nth(1).waitFor()],
  ['catalog', '/catalog?q=how%20many%20words%20does%20it%20have&why=1', explained],
  ['catalog-cards', '/catalog?view=cards', text('folder_sizes')],
  ['tool', '/tools/text_statistics', text(/, \d+ tokens/)],
  ['try', '/tools/text_statistics?tab=try', tryTool],
  ['versions', '/tools/text_statistics?tab=versions', text('wording')],
  ['runs', '/tools/text_statistics?tab=runs', (page) => page.locator('.uplot canvas').nth(1).waitFor()],
  ['providers', '/tools/text_statistics?tab=providers', providers],
  ['edit', '/tools/text_statistics/edit', (page) => page.locator('.cm-content').nth(1).waitFor()],
  ['new-tool', '/tools/new', (page) => page.locator('.cm-content').nth(1).waitFor()],
  ['executions', '/executions', role('link', 'text_statistics')],
  ['execution', `/executions/${run}`, text('Claimed and started')],
  ['execution-failed', `/executions/${failed}`, text('Claimed and started')],
  ['compare', `/executions/compare?a=${run}&b=${other}`, text('Equal.')],
  ['sources', '/sources', role('link', 'notes')],
  ['source', '/sources/notes', text('tools/read_note')],
  ['source-approval', '/sources/mail', text('Exact command')],
  ['import', '/import', role('heading', 'Import')],
  ['search-lab', '/search-lab', evaluate],
  ['lint', '/search-lab?tab=lint', text('Score')],
  ['keys', '/admin?tab=keys', text('reporting')],
  ['toolsets', '/admin?tab=toolsets', text('writing')],
  ['policies', '/admin?tab=policies', text('careful')],
  ['policy', '/admin?tab=policies', openEditor],
  ['limits', '/admin?tab=limits', text('reports')],
  ['secrets', '/admin?tab=secrets', text('secret:MAIL_TOKEN')],
  ['audit', '/admin?tab=audit', role('button', 'policy:careful')],
  ['server', '/admin?tab=server', text('Engine')],
  ['design', '/design', text('Page heading')],
]

const explained = (page) => page.getByRole('list', { name: 'Tools' }).getByText('meaning').first().waitFor()

async function tryTool(page) {
  await page.getByLabel('text', { exact: false }).first().fill('The quick brown fox jumps over the lazy dog.')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('sentences:').waitFor()
}

async function evaluate(page) {
  const lines = ['how many words are in this text => text_statistics', 'is tomorrow a holiday => public_holidays']
  await page.getByRole('textbox', { name: 'Requests' }).fill(`${lines.join('\n')}\nfree disk space => folder_sizes`)
  await page.getByRole('button', { name: /^Evaluate/ }).click()
  const result = page.getByText('nDCG').first()
  await result.waitFor()
  await page.getByRole('button', { name: /^Evaluate/ }).evaluate((button) => button.scrollIntoView({ block: 'start' }))
}

async function providers(page) {
  await page.getByText('Losses').first().waitFor()
  await page.getByRole('button', { name: 'Edit' }).waitFor()
}

async function openEditor(page) {
  await page.getByRole('button', { name: 'Edit' }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).waitFor()
}
