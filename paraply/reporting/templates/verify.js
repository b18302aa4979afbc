"use strict";
(() => {
  const witnesses = [...document.querySelectorAll(".witness")];
  const stepper = document.querySelector(".stepper");
  const marker = document.getElementById("marker");
  if (!witnesses.length || !stepper) return;
  const place = stepper.querySelector(".place");
  let at = 0;
  const show = (next) => {
    at = Math.max(0, Math.min(witnesses.length - 1, next));
    witnesses.forEach((witness, index) => { witness.hidden = index !== at; });
    place.textContent = `${at + 1} of ${witnesses.length}`;
    stepper.querySelector(".back").disabled = at === 0;
    stepper.querySelector(".next").disabled = at === witnesses.length - 1;
    if (marker) {
      const x = witnesses[at].dataset.x;
      marker.setAttribute("x1", x);
      marker.setAttribute("x2", x);
      marker.classList.add("on");
    }
  };
  stepper.hidden = false;
  stepper.querySelector(".back").addEventListener("click", () => show(at - 1));
  stepper.querySelector(".next").addEventListener("click", () => show(at + 1));
  document.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") show(at - 1);
    if (event.key === "ArrowRight") show(at + 1);
  });
  show(0);
})();
