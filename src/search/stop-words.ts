const words = `a an the of in on at to for from by with and or is are was were be been being am do does did doing have has had
having i me my mine we our ours us you your yours he him his she her it its they them their this that these those what which
who whom whose when where why how can could will would shall should may might must not no nor so if then than too very just
about into over under again further once here there all any both each few more most other some such only own same s t d ll m
re ve please`

/** Words that carry no information about a tool. */
export const stopWords: ReadonlySet<string> = new Set(words.split(/\s+/))
