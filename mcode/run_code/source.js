// Compiling a program: the body of an async function whose last expression is its value.

const evaluate = eval; // called by another name it runs in the global scope
const HEAD = "(async function () {\n";
const TAIL = "\n})";

const KEYWORD =
  /^(?:if|else|for|while|do|switch|case|default|try|catch|finally|throw|return|break|continue|const|let|var|class|function|async\s+function|import|export|with|debugger)\b/;
const CONTINUES = /^[([`+\-*/%<>=&|^?.,:;)\]}!~]/;
const COMMENTS = /\/\*[^]*?\*\/|\/\/[^\n]*/g;
const MAIN = /^(?:const|let|var|async\s+function|function)\s+main\b/m;
const ATTEMPTS = 400;

const isBlank = (text) => text.replace(COMMENTS, "").trim() === "";

// The error of a text that does not compile, else null. Nothing of it runs: it stands behind a throw.
function compileError(text) {
  try {
    evaluate(`throw 0;${text}`);
  } catch (error) {
    return error === 0 ? null : error;
  }
  return null;
}

// No text can close both wrappers: behind the first one's brace a colon is an error, behind the second's
// everything else is.
function bodyError(code) {
  return compileError(HEAD + code + TAIL) || compileError(`(0 ? async () => {\n${code}\n} : 0)`);
}

const isBody = (code) => bodyError(code) === null;

function isExpression(text) {
  return !compileError(`(async () => (\n${text}\n))`) && !compileError(`(0 ? async () => (\n${text}\n) : 0)`);
}

// Where the program's last statement is an expression: [its start, its end]; null where it is none.
function lastExpression(code) {
  let end = code.length;
  let attempts = 0;
  for (let cut = end; cut >= 0; cut--) {
    const before = cut ? code[cut - 1] : "";
    if (before && before !== ";" && !(before === "\n" && /\S/.test(code[cut] || " "))) continue;
    const rest = code.slice(cut, end);
    const prefix = code.slice(0, cut);
    if (isBlank(rest)) {
      // A semicolon of a comment's cannot be told from one of the code; both may be left out at the end.
      if (cut < end) end = before === ";" ? cut - 1 : cut;
      else if (before === ";") end = cut - 1;
      continue;
    }
    if (++attempts > ATTEMPTS) return null;
    const start = rest.replace(/^(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*)+/, "");
    const alone = isBlank(prefix);
    if (KEYWORD.test(start) && !(alone && /^(?:async\s+)?function\b/.test(start))) {
      if (isBody(prefix)) return null;
      continue;
    }
    if (!alone && before !== ";" && CONTINUES.test(start)) continue;
    if (before === ";" && isBody(`${prefix} @`)) continue; // inside a comment
    if (isExpression(rest) && isBody(prefix)) return [cut, end];
  }
  return null;
}

// {entry, called, shift} of a program that compiles, else {error}. `called`: its value, where that is a
// function, is to be called; `shift`: [where, how many] characters were put in.
function compile(code) {
  const wrong = bodyError(code);
  if (wrong && !isExpression(code)) return { error: wrong };
  const found = wrong ? [0, code.length] : lastExpression(code);
  if (!found) return compilePlain(code);
  const [start, end] = found;
  const prefix = code.slice(0, start);
  const put = " return (";
  const changed = `${prefix}${put}${code.slice(start, end)}\n)`;
  if (bodyError(changed)) return compilePlain(code);
  return { entry: evaluate(HEAD + changed + TAIL), called: true, shift: [start, put.length] };
}

function compilePlain(code) {
  const forgotten = MAIN.test(code) && code.match(/\bmain\b/g).length === 1 && isBody(`${code}\nreturn main`);
  const text = forgotten ? `${code}\nreturn main` : code;
  return { entry: evaluate(HEAD + text + TAIL), called: forgotten, shift: [0, 0] };
}
