/* The page /docs: sends an operation's form to this service, and shows the response. */
(function () {
  "use strict";

  // the path of the service behind a proxy
  var root = new URL("..", document.currentScript.src).pathname.slice(0, -1);

  /* The inputs of the query or of headers that are not empty. */
  function filled(form, where) {
    return Array.from(form.querySelectorAll("[data-in=" + where + "]")).filter(function (input) {
      return input.value !== "";
    });
  }

  function address(form) {
    var path = form.dataset.path.replace(/\{(\w+)\}/g, function (_, name) {
      return encodeURIComponent(form.elements[name].value);
    });
    var query = filled(form, "query").map(function (input) {
      return encodeURIComponent(input.name) + "=" + encodeURIComponent(input.value);
    });
    return query.length ? path + "?" + query.join("&") : path;
  }

  function request(form) {
    var key = document.getElementById("key").value;
    var headers = key ? { Authorization: "Bearer " + key } : {};
    var options = { method: form.dataset.method, headers: headers, credentials: "omit" };
    if (form.elements.body) {
      options.body = form.elements.body.value;
      headers["Content-Type"] = "application/json";
    }
    filled(form, "header").forEach(function (input) {
      headers[input.name] = input.value;
    });
    return options;
  }

  function pretty(text) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch (_) {
      return text;
    }
  }

  /* Copy a decision's id and token into the forms that report its outcome, with an item of its list. */
  function carryOver(decision) {
    document.querySelector("#report [name=id]").value = decision.id;
    document.querySelector("#report [name=body]").value = JSON.stringify({ clicked: decision.items[0] }, null, 2);
    document.querySelector("#report_by_token [name=body]").value = JSON.stringify(
      { token: decision.token, clicked: decision.items[0] }, null, 2
    );
  }

  async function send(form) {
    var status = form.querySelector(".status");
    var answer = form.querySelector(".answer");
    status.textContent = "…";
    try {
      var began = performance.now();
      var response = await fetch(root + address(form), request(form));
      var text = await response.text();
      status.textContent = response.status + " " + response.statusText + ", " + Math.round(performance.now() - began) + " ms";
      answer.textContent = pretty(text);
      if (response.ok && form.closest("#decide")) carryOver(JSON.parse(text));
    } catch (problem) {
      status.textContent = "no response";
      answer.textContent = String(problem);
    }
    answer.hidden = false;
  }

  document.addEventListener("submit", function (event) {
    event.preventDefault();
    send(event.target);
  });
  document.addEventListener("click", function (event) {
    var example = event.target.dataset.example;
    if (example !== undefined) event.target.form.elements.body.value = example;
  });

  /* /docs#decide opens that operation. */
  function openNamed() {
    var named = location.hash && document.getElementById(location.hash.slice(1));
    if (named && named.matches("details")) named.open = true;
  }
  window.addEventListener("hashchange", openNamed);
  openNamed();
})();
