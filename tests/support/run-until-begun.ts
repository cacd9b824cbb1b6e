/**
 * Runs something that ends at its deadline: after half a second, and on a slow machine with longer deadlines until it had the
 * time to begin.
 */
export async function runUntilBegun<Outcome>(
  run: (seconds: number) => Promise<Outcome>,
  hasBegun: (outcome: Outcome) => boolean,
): Promise<{ readonly outcome: Outcome; readonly seconds: number }> {
  for (let seconds = 0.5; ; seconds *= 4) {
    const outcome = await run(seconds)
    if (hasBegun(outcome) || seconds > 30) return { outcome, seconds }
  }
}
