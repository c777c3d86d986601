// Has pi ask the played model, whose address only the run knows.
export default function (pi) {
  pi.registerProvider("anthropic", { baseUrl: process.env.ANTHROPIC_BASE_URL });
}
