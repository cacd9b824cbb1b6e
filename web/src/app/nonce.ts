import { setNonce } from 'get-nonce'

// Dialogs add a style that keeps the page behind them from scrolling; the policy of the page allows it by this nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce
if (nonce !== undefined) setNonce(nonce)
