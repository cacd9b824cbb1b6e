import {
  type BindingElement,
  type CallExpression,
  type Expression,
  isAsExpression,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isNonNullExpression,
  isObjectBindingPattern,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isStringLiteral,
  isSwitchStatement,
  isVariableDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'

/** Names of fields and variables that hold sentences for readers. */
const proseNames = new Set(['message', 'hint', 'personHint', 'detail', 'errorMessage'])
/** Functions that return the text they are given in another form. */
const textFunctions = new Set([
  'String',
  'firstLine',
  'collapseSpaces',
  'toOneLine',
  'showInvisible',
  'toSentence',
  'withoutPeriod',
])
const matchers = new Set([
  'endsWith',
  'includes',
  'indexOf',
  'lastIndexOf',
  'match',
  'matchAll',
  'replace',
  'replaceAll',
  'search',
  'split',
  'startsWith',
])
const equalities = new Set([
  SyntaxKind.EqualsEqualsToken,
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
])

/** Every expression of a file that matches on the text of a message or a hint, as `line: code`. */
export function findProseMatches(file: SourceFile): readonly string[] {
  const names = new Set(proseNames)
  const found: string[] = []
  const collectAliases = (node: Node): void => {
    const alias = aliasOf(node, names)
    if (alias !== undefined) names.add(alias)
    node.forEachChild(collectAliases)
  }
  const visit = (node: Node): void => {
    if (isMatch(node, names)) {
      const start = file.text.slice(0, node.end - node.getText(file).length)
      found.push(`${start.split('\n').length}: ${node.getText(file).split('\n')[0]}`)
    }
    node.forEachChild(visit)
  }
  collectAliases(file)
  visit(file)
  return found
}

/** A variable that holds a sentence under another name: `const text = error.message`, `{ message: text }`. */
function aliasOf(node: Node, names: ReadonlySet<string>): string | undefined {
  if (isBindingElement(node)) return renamed(node, names)
  if (!isVariableDeclaration(node) || !isIdentifier(node.name) || node.initializer === undefined) return undefined
  return isProse(node.initializer, names) ? node.name.text : undefined
}

function renamed({ propertyName, name, parent }: BindingElement, names: ReadonlySet<string>): string | undefined {
  const isNamed = propertyName !== undefined && isIdentifier(propertyName) && names.has(propertyName.text)
  return isObjectBindingPattern(parent) && isNamed && name !== undefined && isIdentifier(name) ? name.text : undefined
}

function isMatch(node: Node, names: ReadonlySet<string>): boolean {
  if (isCallExpression(node)) return isMatchingCall(node, names)
  if (isSwitchStatement(node)) return isProse(node.expression, names)
  if (isElementAccessExpression(node)) return isProse(node.argumentExpression, names)
  if (!isBinaryExpression(node) || !equalities.has(node.operatorToken.kind)) return false
  const [left, right] = [node.left, node.right]
  return (isProse(left, names) && !isNothing(right)) || (isProse(right, names) && !isNothing(left))
}

function isMatchingCall({ expression, arguments: args }: CallExpression, names: ReadonlySet<string>): boolean {
  if (!isPropertyAccessExpression(expression)) return false
  const method = expression.name.text
  const [first] = args
  if (matchers.has(method) && isProse(expression.expression, names)) return true
  return ['test', 'exec', 'includes'].includes(method) && first !== undefined && isProse(first, names)
}

/** Whether a value is compared with the absence of a sentence only. */
const isNothing = (node: Expression): boolean =>
  node.kind === SyntaxKind.NullKeyword ||
  (isIdentifier(node) && node.text === 'undefined') ||
  (isStringLiteral(node) && node.text === '')

function isProse(node: Expression, names: ReadonlySet<string>): boolean {
  if (isIdentifier(node)) return names.has(node.text)
  if (isPropertyAccessExpression(node)) return proseNames.has(node.name.text)
  if (isParenthesizedExpression(node) || isAsExpression(node) || isNonNullExpression(node))
    return isProse(node.expression, names)
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.QuestionQuestionToken)
    return isProse(node.left, names) || isProse(node.right, names)
  if (!isCallExpression(node)) return false
  const { expression, arguments: args } = node
  if (isIdentifier(expression) && textFunctions.has(expression.text)) return args.some((arg) => isProse(arg, names))
  return isPropertyAccessExpression(expression) && isProse(expression.expression, names)
}
