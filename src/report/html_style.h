// The fixed parts of the page: colours of both themes, and the little script that sorts, filters and switches the
// theme.
#pragma once

#include <string_view>

namespace simpred {

inline constexpr std::string_view kHtmlStyle = R"css(
:root{color-scheme:light;--bg:#fbfbfa;--card:#fff;--ink:#1d2127;--soft:#5d6673;--line:#e2e5e9;--accent:#1f6feb;--warn:#9a5b00;
--c0:#1f6feb;--c1:#0b8a6f;--c2:#b4540a;--c3:#8250df;--c4:#bf3989;--c5:#57606a;--c6:#7a7200;--c7:#0969a2}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;--bg:#12151a;--card:#1a1f26;--ink:#e4e8ee;
--soft:#97a1af;--line:#2d343e;--accent:#6ea8fe;--warn:#f0b45c;--c0:#6ea8fe;--c1:#3fc7a3;--c2:#f0935a;--c3:#b693f5;--c4:#f07fc0;
--c5:#9aa5b1;--c6:#cfc04a;--c7:#5cc0ea}}
:root[data-theme=dark]{color-scheme:dark;--bg:#12151a;--card:#1a1f26;--ink:#e4e8ee;--soft:#97a1af;--line:#2d343e;
--accent:#6ea8fe;--warn:#f0b45c;--c0:#6ea8fe;--c1:#3fc7a3;--c2:#f0935a;--c3:#b693f5;--c4:#f07fc0;--c5:#9aa5b1;--c6:#cfc04a;
--c7:#5cc0ea}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1120px;margin:0 auto;padding:24px 20px 64px}
h1{font-size:22px;margin:0}h2{font-size:16px;margin:0 0 12px}
p{margin:6px 0}.soft{color:var(--soft)}.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
header{display:flex;justify-content:space-between;gap:16px;align-items:flex-start;margin-bottom:20px}
button,input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:6px;padding:4px 10px}
section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:18px 20px;margin-bottom:16px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:14px}
.tile b{display:block;font-size:22px;line-height:1.3}.tile span{color:var(--soft);font-size:13px}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th{text-align:left;color:var(--soft);font-weight:600;border-bottom:1px solid var(--line);padding:5px 8px;white-space:nowrap}
th.num{text-align:right}th[data-sort]{cursor:pointer}th[data-sort]:hover{color:var(--ink)}
td{border-bottom:1px solid var(--line);padding:5px 8px;vertical-align:top}
td.name{max-width:340px;overflow-wrap:anywhere}
.bar{height:8px;border-radius:4px;background:var(--c0);min-width:1px}
.track{background:var(--line);border-radius:4px;min-width:90px}
.stack{display:flex;height:18px;border-radius:5px;overflow:hidden;background:var(--line);margin-bottom:8px}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:13px}
.dot{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:6px}
.warn li{color:var(--warn);overflow-wrap:anywhere}
svg{display:block;width:100%;height:auto;font:11px system-ui,sans-serif}
svg text{fill:var(--soft)}svg .axis{stroke:var(--line)}svg .roof{stroke:var(--soft);fill:none}
.f0{fill:var(--c0);background:var(--c0)}.f1{fill:var(--c1);background:var(--c1)}.f2{fill:var(--c2);background:var(--c2)}
.f3{fill:var(--c3);background:var(--c3)}.f4{fill:var(--c4);background:var(--c4)}.f5{fill:var(--c5);background:var(--c5)}
.f6{fill:var(--c6);background:var(--c6)}.f7{fill:var(--c7);background:var(--c7)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:12.5px;margin:8px 0 0}
@media print{button,input{display:none}section{break-inside:avoid}}
)css";

inline constexpr std::string_view kHtmlScript = R"js(
(function(){
var root=document.documentElement,toggle=document.getElementById('theme');
toggle.addEventListener('click',function(){
var dark=root.dataset.theme?root.dataset.theme==='dark':matchMedia('(prefers-color-scheme: dark)').matches;
root.dataset.theme=dark?'light':'dark';});
var table=document.getElementById('operators'),body=table.tBodies[0],filter=document.getElementById('filter');
filter.addEventListener('input',function(){
var wanted=filter.value.toLowerCase();
for(var i=0;i<body.rows.length;i++){var r=body.rows[i];r.hidden=r.textContent.toLowerCase().indexOf(wanted)<0;}});
Array.prototype.forEach.call(table.tHead.rows[0].cells,function(head,column){
if(!head.dataset.sort)return;
head.addEventListener('click',function(){
var numeric=head.dataset.sort==='number',down=head.dataset.down!=='1';
head.dataset.down=down?'1':'0';
var key=function(r){var c=r.cells[column];return numeric?parseFloat(c.dataset.v||'0'):c.textContent;};
Array.prototype.slice.call(body.rows).sort(function(a,b){
var x=key(a),y=key(b),o=numeric?x-y:(x<y?-1:x>y?1:0);return down&&numeric?-o:o;
}).forEach(function(r){body.appendChild(r);});});});
})();
)js";

}  // namespace simpred
