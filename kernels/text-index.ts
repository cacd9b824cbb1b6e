// The lexical index: everything that is done once for each word of each tool, or once for each tool of each query.
export {
  addNameTerm,
  addPair,
  addTerm,
  coverageOf,
  finishNames,
  idf,
  refresh,
  scoreOf,
  scoreOfPair,
  scoresAt,
  startQuery,
} from './scores'
export { add, getAdded, codesAt, codesOf, remove, setTerm, sizeOf, weights } from './tools'
export { clear, getCodeCount, getCodes, getWordCount, lettersAt, letterStart, readText, readWord, textAt } from './words'
