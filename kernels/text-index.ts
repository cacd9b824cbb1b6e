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
export { again, getUnits, headsAt, readBatch, readPlain, resume, textAt } from './batch'
export { findNames, namesAt, readSpelling, spellWord, startSpelling } from './names'
export { classesAt } from './odd-characters'
export { getNamed, getTermCount, setTerm, termLettersAt, termStart } from './terms'
export { readText } from './texts'
export { codesAt, codesOf, gather, getAdded, getToolCount, remove, sizeOf, weights } from './tools'
export {
  clear,
  endsFrom,
  findTerm,
  getCodeCount,
  getCodes,
  getWordCount,
  internTerm,
  lettersAt,
  letterStart,
  readWord,
  readWords,
  useStems,
  wordAt,
} from './words'
