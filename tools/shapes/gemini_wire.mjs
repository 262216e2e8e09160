// Google's client takes parameters in a shape of its own and translates them. The document is the request that the
// client sends: the client is called with a fetch that keeps the body. Parameters that the Gemini API does not know are
// sent as for Vertex AI.
import { require } from './types.mjs';

export async function makeSender() {
  const { GoogleGenAI } = require('@google/genai');
  const clients = [new GoogleGenAI({ apiKey: 'none' }), new GoogleGenAI({ vertexai: true, apiKey: 'none' })];
  return async (parameters) => {
    const before = globalThis.fetch;
    let body;
    globalThis.fetch = async (_, init) => {
      body = init.body;
      return new Response('{}', { headers: { 'content-type': 'application/json' } });
    };
    try {
      for (const client of clients) {
        try {
          await client.models.generateContent(structuredClone(parameters));
        } catch {
          continue; // this API refuses it
        }
        return JSON.parse(body);
      }
    } finally {
      globalThis.fetch = before;
    }
    return null;
  };
}
