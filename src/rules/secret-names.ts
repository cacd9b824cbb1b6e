const secretNames = /(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)$/i
const secretHeaders = /^(?:proxy-)?authorization$|^cookie$|(?:key|token|secret|password)$/i

/** Whether the value of a variable is a secret, by the name of the variable. */
export const isSecretName = (name: string): boolean => secretNames.test(name)

/** Whether the value of a request header is a secret. */
export const isSecretHeader = (name: string): boolean => secretHeaders.test(name)
