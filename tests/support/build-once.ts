import { execFileSync } from 'node:child_process'

/** Tests of the command line run the build, so it must be of this very source. */
export function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
}
