(function () {
  "use strict";
  var data = JSON.parse(document.getElementById("threshold-data").textContent);
  var part = function (name) { return document.getElementById(name); };
  var slider = part("threshold");
  slider.max = data.thresholds.length - 1;
  slider.value = data.thresholds.indexOf(data.used);
  function costs(i) {
    var alarms = data.called[i] - data.hits[i], missed = data.positives - data.hits[i];
    return (Number(part("alarm-cost").value) * alarms + Number(part("miss-cost").value) * missed) / data.rows;
  }
  function percent(share) { return (100 * share).toFixed(1) + " %"; }
  function show() {
    var i = Number(slider.value), called = data.called[i], hits = data.hits[i];
    part("chosen-threshold").textContent = data.thresholds[i].toFixed(3);
    part("outcome").textContent = called + " of " + data.rows + " rows called, " + hits + " of them right (" +
      (called ? percent(hits / called) : "-") + "); " + percent(hits / data.positives) + " of the class found, " +
      (data.positives - hits) + " missed; cost per row " + costs(i).toPrecision(3) + ".";
  }
  function choose() {
    var best = 0;
    for (var i = 1; i < data.thresholds.length; i++) {
      if (costs(i) < costs(best)) { best = i; }
    }
    slider.value = best;
    show();
  }
  slider.addEventListener("input", show);
  part("alarm-cost").addEventListener("input", show);
  part("miss-cost").addEventListener("input", show);
  part("cheapest").addEventListener("click", choose);
  part("chooser").hidden = false;
  show();
})();
