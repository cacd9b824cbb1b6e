declare module 'autocannon' {
  interface Result {
    readonly requests: { readonly average: number; readonly total: number }
    readonly latency: { readonly p99: number }
    readonly non2xx: number
    readonly errors: number
  }
  interface Options {
    readonly url: string
    readonly headers?: Readonly<Record<string, string>>
    readonly connections: number
    readonly duration: number
  }
  function autocannon(options: Options): Promise<Result>
  export = autocannon
}
