import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TokenVerifier } from './access-tokens.ts'

const resource = 'http://127.0.0.1:65000/mcp'

async function listen(respond: RequestListener) {
  const server = createServer(respond)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** An authorization server whose keys are published by a function, and a token that it signed. */
async function startIssuer(publish: RequestListener | undefined, jwksUri?: string) {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'a', alg: 'RS256' }] })
  const { url, close } = await listen((request, response) => {
    if (request.url === '/keys') return (publish ?? ((_, answer) => answer.end(keys)))(request, response)
    response.end(JSON.stringify({ issuer: url, jwks_uri: jwksUri ?? `${url}/keys` }))
  })
  const sign = (subject: string) =>
    new SignJWT({ scope: 'tooldex:call' })
      .setProtectedHeader({ alg: 'RS256', kid: 'a' })
      .setIssuer(url)
      .setAudience(resource)
      .setSubject(subject)
      .setExpirationTime('10m')
      .sign(privateKey)
  const verifier = new TokenVerifier({ issuer: url, resource, workspace: 'default', groupsClaim: 'groups' })
  return { sign, verifier, close }
}

describe('119: the published keys of an authorization server', () => {
  it('are kept while it is down', async () => {
    const { sign, verifier, close } = await startIssuer(undefined)
    expect(await verifier.verify(await sign('alice'))).toMatchObject({ subject: 'alice', scopes: ['call'] })
    close()
    expect(await verifier.verify(await sign('bob'))).toMatchObject({ subject: 'bob' })
  })

  it('are not read beyond a megabyte', async () => {
    let sent = 0
    const { sign, verifier } = await startIssuer((_, response) => {
      const chunk = Buffer.alloc(65_536, ' ')
      const send = () => {
        while (!response.destroyed) {
          sent += chunk.length
          if (!response.write(chunk)) return response.once('drain', send)
        }
        return undefined
      }
      send()
    })
    await expect(verifier.verify(await sign('alice'))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  it('are not read from another host than the one that is named, nor over plain HTTP', async () => {
    let asked = 0
    const other = await listen((_, response) => {
      asked++
      response.end('{"keys":[]}')
    })
    const { sign, verifier } = await startIssuer((_, response) => {
      response.writeHead(302, { location: `${other.url}/keys` }).end()
    })
    await expect(verifier.verify(await sign('alice'))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    const plain = await startIssuer(undefined, 'http://keys.example.org/')
    await expect(plain.verifier.verify(await plain.sign('alice'))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(asked).toBe(0)
  })
})
