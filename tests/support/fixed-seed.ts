import fc from 'fast-check'

// Properties are tried with the same values in every run; `npm run test:long` tries others each time.
if (process.env.TOOLDEX_LONG !== '1') fc.configureGlobal({ seed: 20_261_116 })
